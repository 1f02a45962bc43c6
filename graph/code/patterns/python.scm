; What Python code defines and refers to. The captures are explained in graph/code/parse.py.

(function_definition name: (identifier) @name) @function
(decorated_definition definition: (function_definition name: (identifier) @name)) @function
(class_definition name: (identifier) @name) @class
(decorated_definition definition: (class_definition name: (identifier) @name)) @class
(class_definition
  name: (identifier) @name
  superclasses: (argument_list [
    (identifier) @protocol
    (attribute attribute: (identifier) @protocol)
    (subscript value: (identifier) @protocol)])
  (#eq? @protocol "Protocol")) @interface
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(module (type_alias_statement left: (type) @name) @variable)

(class_definition superclasses: (argument_list [
  (identifier) @inherits
  (attribute attribute: (_) @last) @inherits
  (subscript value: [(identifier) (attribute)] @inherits)]))

(call function: (identifier) @calls)
(call function: (attribute attribute: (identifier) @last) @calls)
(decorator (identifier) @calls)
(decorator (attribute attribute: (identifier) @last) @calls)

(import_statement name: (dotted_name) @from)
(import_statement name: (aliased_import name: (dotted_name) @from alias: (identifier) @local))
(import_from_statement module_name: (_) @from name: (dotted_name) @taken)
(import_from_statement
  module_name: (_) @from
  name: (aliased_import name: (dotted_name) @taken alias: (identifier) @local))
(import_from_statement module_name: (_) @from (wildcard_import) @everything)
