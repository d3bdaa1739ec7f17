package main

import (
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object, mostly a schema.
type object map[string]any

// child is the object in a field, and nil when there is none.
func (o object) child(field string) object {
	child, _ := o[field].(map[string]any)
	return child
}

// inner are the schemas directly inside a schema.
func (o object) inner() []object {
	var schemas []object
	for name := range o.child("properties") {
		schemas = append(schemas, o.child("properties").child(name))
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if schema := o.child(keyword); schema != nil {
			schemas = append(schemas, schema)
		}
	}
	return schemas
}

// at follows a path such as spec.deployments[].spec from a schema to another.
func (o object) at(path string) (object, error) {
	node := o
	for step := range strings.SplitSeq(path, ".") {
		field, list := strings.CutSuffix(step, "[]")
		node = node.child("properties").child(field)
		if list {
			node = node.child("items")
		}
		if node == nil {
			return nil, fmt.Errorf("the schema has no %s: the Go types changed, so change the list of paths", path)
		}
	}
	return node, nil
}

// makeTimeOptional lets the items of a list of conditions be without lastTransitionTime. Null stands for none, because
// that is how Go clients write it.
func makeTimeOptional(condition object) {
	condition.child("properties").child("lastTransitionTime")["nullable"] = true
	required, _ := condition["required"].([]any)
	condition["required"] = slices.DeleteFunc(required, func(field any) bool { return field == "lastTransitionTime" })
}
