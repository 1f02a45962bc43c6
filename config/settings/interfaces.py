"""REST: DRF gives the frame; bodies, answers and the document are made by config.rest."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["config.rest.authentication.CallerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["config.rest.permissions.ScopePermission"],
    "DEFAULT_RENDERER_CLASSES": ["config.rest.rendering.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "EXCEPTION_HANDLER": "config.rest.problems.handle",
    "UNAUTHENTICATED_USER": None,
}
