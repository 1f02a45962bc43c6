; What JavaScript alone has.

(class_declaration name: (identifier) @name) @class
(export_statement declaration: (class_declaration name: (identifier) @name)) @class
(variable_declarator name: (identifier) @name value: (class)) @class
(field_definition
  property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)]) @method

(class_heritage (identifier) @inherits)
(class_heritage (member_expression property: (_) @last) @inherits)
