; What TypeScript has besides.

(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(enum_declaration name: (identifier) @name) @class
(type_alias_declaration name: (type_identifier) @name) @class
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(export_statement declaration: (class_declaration name: (type_identifier) @name)) @class
(export_statement declaration: (abstract_class_declaration name: (type_identifier) @name)) @class
(export_statement declaration: (interface_declaration name: (type_identifier) @name)) @interface
(export_statement declaration: (enum_declaration name: (identifier) @name)) @class
(export_statement declaration: (type_alias_declaration name: (type_identifier) @name)) @class
(variable_declarator name: (identifier) @name value: (class)) @class
(function_signature name: (identifier) @name) @function
(method_signature name: (property_identifier) @name) @method
(abstract_method_signature name: (property_identifier) @name) @method
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)]) @method

(extends_clause value: (identifier) @inherits)
(extends_clause value: (member_expression property: (_) @last) @inherits)
(implements_clause [(type_identifier) (nested_type_identifier)] @implements)
(implements_clause (generic_type name: (_) @implements))
(extends_type_clause [(type_identifier) (nested_type_identifier)] @inherits)
(extends_type_clause (generic_type name: (_) @inherits))

(import_require_clause (identifier) @local source: (string) @from)
