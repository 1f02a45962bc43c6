; What Rust code defines and refers to. The captures are explained in graph/code/parse.py.

(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(type_item name: (type_identifier) @name) @class
(trait_item name: (type_identifier) @name) @interface
(mod_item name: (identifier) @name body: (_)) @module
(macro_definition name: (identifier) @name) @function
(source_file (const_item name: (identifier) @name) @variable)
(source_file (static_item name: (identifier) @name) @variable)
(impl_item type: [
  (type_identifier) @name
  (scoped_type_identifier name: (type_identifier) @name)
  (generic_type type: (type_identifier) @name)]) @owner

(attribute_item (attribute [
  (identifier) @marks
  (scoped_identifier name: (identifier) @marks)]) (#match? @marks "^(test|bench|rstest|proptest)$"))

(impl_item trait: [(type_identifier) (scoped_type_identifier)] @implements)
(impl_item trait: (generic_type type: (_) @implements))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @inherits))

(call_expression function: [(identifier) (scoped_identifier)] @calls)
(call_expression function: (field_expression field: (_) @last) @calls)
(call_expression function: (generic_function function: [(identifier) (scoped_identifier)] @calls))
(call_expression
  function: (generic_function function: (field_expression field: (_) @last) @calls))
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @calls)
(macro_invocation macro: [(identifier) (scoped_identifier)] @calls)
(token_tree (identifier) @calls . (token_tree . "("))

(use_declaration argument: (_) @uses)
(mod_item name: (identifier) @declares !body)
(extern_crate_declaration name: (identifier) @from)
