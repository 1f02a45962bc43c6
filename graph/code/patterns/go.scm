; What Go code defines and refers to. The captures are explained in graph/code/parse.py.

(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (generic_type type: (type_identifier) @receiver)
    (pointer_type (type_identifier) @receiver)
    (pointer_type (generic_type type: (type_identifier) @receiver))]))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @class
(type_alias name: (type_identifier) @name) @class
(method_elem name: (field_identifier) @name) @method
(source_file (const_declaration (const_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))

(field_declaration !name type: [(type_identifier) (qualified_type)] @inherits)
(field_declaration !name type: (generic_type type: (_) @inherits))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @inherits .))

(call_expression function: (identifier) @calls)
(call_expression function: (selector_expression field: (field_identifier) @last) @calls)
(composite_literal type: [(type_identifier) (qualified_type)] @calls)
(composite_literal type: (generic_type type: (_) @calls))

(import_spec !name path: (_) @from)
(import_spec name: (package_identifier) @local path: (_) @from)
(import_spec name: (dot) @everything path: (_) @from)
(import_spec name: (blank_identifier) path: (_) @from)
