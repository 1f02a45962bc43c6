"""REST and its documentation."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["config.rest.authentication.CallerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["config.rest.permissions.ScopePermission"],
    "DEFAULT_RENDERER_CLASSES": ["config.rest.rendering.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.rest.problems.handle",
    "UNAUTHENTICATED_USER": None,
    "UNICODE_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Cairn",
    "DESCRIPTION": "Team memory for AI coding agents.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}
