; What JavaScript and TypeScript share. The captures are explained in graph/code/parse.py.

(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(export_statement declaration: (function_declaration name: (identifier) @name)) @function
(export_statement declaration: (generator_function_declaration name: (identifier) @name)) @function
(export_statement value: [(arrow_function) (function_expression)] @function)
(export_statement value: (class) @class)
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @function
(pair
  key: (property_identifier) @name
  value: [(arrow_function) (function_expression)]) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(program (export_statement
  declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))

(call_expression
  function: [(identifier) @runner (member_expression object: (identifier) @runner)]
  arguments: (arguments . [(string) (template_string)] @name . [(arrow_function) (function_expression)])
  (#any-of? @runner "describe" "it" "test" "suite")) @test

(call_expression function: (identifier) @calls)
(call_expression function: (member_expression property: (_) @last) @calls)
(new_expression constructor: (identifier) @calls)
(new_expression constructor: (member_expression property: (_) @last) @calls)
(decorator (identifier) @calls)

(import_statement (import_clause (identifier) @default) source: (string) @from)
(import_statement . source: (string) @from)
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @taken !alias)))
  source: (string) @from)
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @taken alias: (_) @local)))
  source: (string) @from)
(import_statement
  (import_clause (namespace_import (identifier) @local))
  source: (string) @from)
(export_statement
  (export_clause (export_specifier name: (_) @taken !alias))
  source: (string) @from)
(export_statement
  (export_clause (export_specifier name: (_) @taken alias: (_) @local))
  source: (string) @from)
(export_statement "*" @everything source: (string) @from)
(call_expression
  function: (import)
  arguments: (arguments . (string) @from))
(call_expression
  function: (identifier) @require
  arguments: (arguments . (string) @from .)
  (#eq? @require "require"))
(variable_declarator
  name: (identifier) @local
  value: (call_expression
    function: (identifier) @require
    arguments: (arguments . (string) @from .))
  (#eq? @require "require"))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @taken)
  value: (call_expression
    function: (identifier) @require
    arguments: (arguments . (string) @from .))
  (#eq? @require "require"))
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @taken value: (identifier) @local))
  value: (call_expression
    function: (identifier) @require
    arguments: (arguments . (string) @from .))
  (#eq? @require "require"))
