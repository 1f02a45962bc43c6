"""How the keys of services begin, as their vendors publish it: the forms of keys."""

from typing import Final

PREFIXES: Final = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}", r"AIza[\w-]{35}", r"ya29\.[\w-]{30,}", r"GOCSPX-[\w-]{28}",
    r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}", r"whsec_[0-9A-Za-z+/=]{24,}",
    r"sk-(?:ant-|proj-|svcacct-)?[\w-]{20,}", r"gh[pousr]_[0-9A-Za-z]{36}", r"github_pat_\w{50,}",
    r"gl(?:pat|ptt|dt|rt|agent|soat|ffct|imt|ft|cbt)-[\w-]{20,}", r"xox[abeprs]-[\w-]{10,}",
    r"xapp-\d-[\w-]{20,}", r"npm_[0-9A-Za-z]{36}", r"pypi-[\w-]{50,}", r"rubygems_[0-9a-f]{48}",
    r"hf_[0-9A-Za-z]{30,}", r"gsk_[0-9A-Za-z]{40,}", r"r8_[0-9A-Za-z]{30,}",
    r"pplx-[0-9A-Za-z]{40,}",
    r"xai-[0-9A-Za-z]{60,}", r"SG\.[\w-]{16,}\.[\w-]{16,}", r"key-[0-9a-f]{32}",
    r"xkeysib-[0-9a-f]{64}-\w{16}", r"[0-9a-f]{32}-us\d{1,2}", r"SK[0-9a-f]{32}",
    r"do[opr]_v1_[0-9a-f]{64}", r"HRKU-[\w-]{30,}", r"hv[sbr]\.[\w-]{24,}",
    r"\w{14}\.atlasv1\.[\w-]{60,}", r"NR(?:AK|AL|II)-[\w-]{27,}", r"gl(?:sa|c)_[\w-]{32,}",
    r"sntry[su]_[\w=+/-]{40,}", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", r"EAAA[\w-]{56,}",
    r"sq0(?:atp|csp|idp)-[\w-]{22,}", r"\w{3}8Q~[\w.~-]{31,}", r"dapi[0-9a-f]{32}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", r"lin_api_\w{40}", r"ntn_\w{40,}", r"fig[dur]_[\w-]{40,}",
    r"pat\w{14}\.[0-9a-f]{64}", r"AT(?:ATT3|CTT3|BB)[\w=-]{20,}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}", r"pscale_(?:tkn|pw|oauth)_[\w-]{32,}",
    r"sbp_[0-9a-f]{40}", r"nfp_\w{36,}",
    r"pul-[0-9a-f]{40}", r"sl\.[\w-]{100,}", r"sk\.eyJ[\w-]{40,}\.[\w-]{20,}",
    r"AKCp[0-9A-Za-z]{60,}",
    r"pn[ub]_[0-9A-Za-z]{36}", r"rdme_\w{70}", r"tfp_[\w-]{50,}", r"dt0[a-z]\d{2}\.\w{24}\.\w{64}",
    r"FLWSECK(?:_TEST)?-[\w-]{20,}", r"dckr_(?:pat|oat)_[\w-]{27,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"sdk-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", r"fm[12]_[\w+/=-]{40,}",
    r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{30,}",
    r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{50,}",
    r"(?:sk|pat|tok|token|key|secret|api)_(?:[a-z]{2,10}_){0,2}(?=[A-Za-z]*\d)[0-9A-Za-z]{32,}",
)  # fmt: skip
