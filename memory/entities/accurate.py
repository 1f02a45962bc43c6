"""The accurate strategy: what a statistical reader found in a text, as names.

A reader marks people, organizations, places and dates; all small ones take names of software for
such. So the patterns of every write come first and win, wherever both found something, and what is
left is believed only if it looks like a name that somebody wrote: words with capitals, no sign of
code, no abbreviation, nothing that is known to be software. A date must say its year.

What a reader is, is not decided here: it is a callable from texts to spans.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from memory.entities import names
from memory.entities import rules as patterns
from memory.entities.names import Name
from memory.entities.rules import CANONICAL, WORDS, EntityKind, EntitySpan
from memory.providers.contracts import ReadSpan
from memory.text import text as texts

# Names of software, and nouns of texts about it, that a statistical reader takes for names.
#
# Many are names of people, companies, places or everyday words too. `tools` holds what is certain
# in any text, and so leaves them out; here they only say what a name that was read as somebody's
# is not.

_NAMES: Final = """
actix aerospike algolia alpine amplify anaconda android angular ansi ant apache apollo appium arch
argo arm arrow artifactory asana astro athena aurora auth0 ava avro babel backbone bamboo bash
beam bitrise blazor bokeh boost boot bootstrap bottle bower buck bun bundler caddy cairn
capistrano capybara centos chai chakra chef chrome chromium cilium clang clojure cloudinary cmake
codex cognito composer conan conda confluence consul contentful copilot cosmos couchbase couchdb
crystal css csv cucumber cursor cypress cython dart databricks datagrip debian deno dependabot
devise discord doctrine docusaurus dragonfly dramatiq drizzle drone druid drupal duckdb eclipse
ecto edge electron elixir elm eloquent emacs ember envoy enzyme erlang esbuild excel expo express
falcon fargate fastify fedora figma firefox firestore flask flow fluentd flutter flux flyway
fortify fortran gatsby gemini gerrit gherkin ghost gitea glue gnome gradle grails groovy grunt
guava guice gulp hadoop hanami harbor haskell hazelcast hive homebrew html hudson huey hugo ignite
impala influx influxdb insomnia intellij ionic ios jackson jaeger jasmine java jekyll jest jetty
jinja joomla jquery json julia jupyter karma karpenter keras keycloak kinesis kingfisher knative
knex koa kong kustomize lambda lerna less linear linkerd linode linux liquibase llama locust loki
lombok looker lua lucene lucid macos magento make mantine mariner markdown maven meilisearch
mercurial metabase meteor micronaut minikube minio mobx mocha mockito mongoose mustache nagios
ndjson neo4j neptune netlify netty next nexus nim nomad notion nuget nunit nuxt objective obsidian
octave ollama opera oracle outlook packer pagerduty parcel parquet passenger passport perforce
perl phoenix php pika pinia pinot poetry polars postfix postman powershell preact presto prettier
prisma pulsar puma puppet puppeteer pycharm pylint pyramid qt quarkus quartz rack rails rake
raspbian react redmine redux relay remix renovate resque riak rollup rspec rubocop ruby rust
safari salt samba samza sanic sass scala scikit scipy scrapy scylla sdk selenium sequelize
serverless shopify sidekiq signalr sinatra sketch slack snowflake snowpack snyk solaris solid
solidity solr sonar sonarqube sonatype spark sphinx splunk spring sql starlette storm storybook
struts stylus sublime subversion supabase svelte svn swagger swift symfony tableau tapestry tempo
terragrunt thrift timescale tomcat toml tornado trac travis trello trino trivy turbo twig twilio
ubuntu unicorn unity vagrant vault vector velero vercel vim visual vscode vue vuex wildfly windows
wordpress xamarin xcode xen xml yaml yarn yii zabbix zed zig zipkin zoom zsh
"""
SOFTWARE: Final = frozenset(_NAMES.split())
_WORDS: Final = """
action address admin agent alias app array attribute audience backend bucket bug cache caller
capability category channel cluster code column command commit component config configuration
connection constraint container context controller cookie counter credential cursor daemon
dashboard data database dataset date default dependency deployment developer directory document
domain edge embedding endpoint engine entity environment error event example exception expression
feature field filter folder footer form format formula friday frontend function gateway handler
hash header heading history hook icon identifier image index infrastructure input instance
integration interface item job journal kernel keyword label latency layer layout ledger library
limit line link list loader locale location log logic login loop machine maintenance manager
mapping memory menu message metadata method metric middleware migration mode model module monday
monitor name namespace network node note notice notification number object observer offset
operator option order organization outbox output owner package page paging parameter parser part
password path pattern payload permission person phase pipeline plan platform plugin pointer policy
port preference prefix process product production profile program project prompt property protocol
provider proxy query queue ratio reader reason receipt record region registry release repository
request resource response result retention reviewer role router row rule runner saturday scheduler
schema scope script secret section segment selector sentence server service session setting
signature site socket source staging state statement status step storage strategy string style
subject summary sunday support surface symbol syntax system table tag task team template tenant
test text theme thread threshold thursday ticket time timeline timeout timestamp token tool topic
trace traffic transaction trigger tuesday tuple turn type unit user username utility validator
value variable vector vendor version view viewer volume wednesday weight widget window worker
workflow workspace
"""
COMMON: Final = frozenset(_WORDS.split())  # nouns of texts about software that begin sentences


FEW: Final = 2  # names: memories with fewer are read
ENOUGH: Final = 32_767  # stands in place of a reader's number where the patterns found enough
SURE: Final = 0.55  # below every pattern's; ours
LONGEST: Final = 60  # characters of a name; ours
MOST_WORDS: Final = 5  # of a name; ours

KINDS: Final[Mapping[str, EntityKind]] = {  # of the labels of OntoNotes
    "PERSON": EntityKind.PERSON,
    "ORG": EntityKind.ORGANIZATION,
    "GPE": EntityKind.LOCATION,
    "LOC": EntityKind.LOCATION,
    "FAC": EntityKind.LOCATION,
    "DATE": EntityKind.PERIOD,
}
_FENCED: Final = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_PARTICLE: Final = r"(?:of|the|and|de|da|del|di|du|la|van|von|der|den|al|bin|ibn|for|&)"
_WORD: Final = r"[^\W\d_a-z][^\W\d_]*(?:['’\-][^\W\d_]+)*\.?"
_NAME: Final = re.compile(rf"(?:al-)?{_WORD}(?: (?:{_PARTICLE} )*(?:al-)?{_WORD})*\Z")
_ABBREVIATION: Final = re.compile(r"[A-Z]{1,5}s?\Z")
_HUMPED: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")  # as in ETag
_PERIOD: Final = re.compile(
    r"(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
    r"(?: \d{1,2},?)? (?:19|20)\d\d\Z|Q[1-4] (?:19|20)\d\d\Z"
)
_COMPANY_WORDS: Final = """
ag airlines airways bank banking bv capital co company consulting corp corporation energy
engineering entertainment finance financial foods foundation freight gmbh group health
healthcare holdings inc industries institute insurance international labs laboratories limited
llc logistics ltd media medical motors networks partners pharma pharmaceuticals plc press
research retail services shipping software solutions studios systems technologies technology
telecom traders trading transport university ventures
"""  # of companies' names, which people do not have; ours
_COMPANY: Final = frozenset(_COMPANY_WORDS.split())
_BEFORE: Final = re.compile(r"(?:the|The) ")
_AFTER: Final = re.compile(r"['’]s?\Z")


def prose_of(*, content: str) -> str:
    """Return what a reader is given of a memory's text: what is visible, without blocks of code."""
    visible = texts.visible_text(text=content)
    return _FENCED.sub(lambda block: " " * len(block.group()), visible)


def names_of(*, prose: str, read: Iterable[ReadSpan]) -> tuple[Name, ...]:
    """Return the names that a reader found in a text beside those that the patterns find."""
    fast = patterns.find_entities(text=prose)
    marked = (_span(prose, one) for one in read)
    believed = tuple(one for one in marked if one is not None and _is_name(one))
    every = patterns.resolve_overlaps(spans=(*fast, *believed))
    known = {(one.type, one.key) for one in names.names_of(spans=fast)}
    found = names.names_of(spans=(one for one in every if one in believed))
    return tuple(one for one in found if (one.type, one.key) not in known)


def enriched_by(*, named: tuple[Name, ...]) -> int:
    """Return what stands with a new text: the patterns found enough, or nobody has read it."""
    return ENOUGH if len(named) >= FEW else 0


def _span(prose: str, read: ReadSpan) -> EntitySpan | None:
    """Return a mark as a span of ours, without article and genitive; None for what is no name."""
    kind = KINDS.get(read.label)
    if kind is None or read.is_everyday:
        return None
    marked = prose[read.start : read.end]
    before = _BEFORE.match(marked)
    start = read.start + (before.end() if before else 0)
    text = _AFTER.sub("", prose[start : read.end].rstrip())
    if kind is EntityKind.PERSON and text.rstrip(".").rpartition(" ")[2].casefold() in _COMPANY:
        kind = EntityKind.ORGANIZATION
    return EntitySpan(kind=kind, text=text, start=start, end=start + len(text), confidence=SURE)


def _is_name(span: EntitySpan) -> bool:
    if span.kind is EntityKind.PERIOD:
        return _PERIOD.match(span.text) is not None
    if len(span.text) > LONGEST or _NAME.match(span.text) is None:
        return False
    written = span.text.split()
    if _ABBREVIATION.match(span.text) or any(map(_HUMPED.search, written)):
        return False
    if span.kind is EntityKind.PERSON and any(map(_ABBREVIATION.match, written)):
        return False
    words = [word.casefold() for word in written]
    return len(words) <= MOST_WORDS and not _is_software(span.kind, words)


def _is_software(kind: EntityKind, words: list[str]) -> bool:
    """Say whether words name a tool; a person may have a first name as a tool has."""
    if " ".join(words) in CANONICAL or not WORDS.isdisjoint(words):
        return True
    asked = words[1:] if kind is EntityKind.PERSON and len(words) > 1 else words
    if len(words) == 1 and (words[0] in COMMON or words[0].removesuffix("s") in COMMON):
        return True
    return not SOFTWARE.isdisjoint(asked)
