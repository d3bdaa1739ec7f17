package main

// slim takes out of a schema of Kubernetes what the type of the field does not need:
//   - descriptions, which are most of its size, except that of the field itself;
//   - keys of lists and the defaults that only they need, because Kubernetes itself accepts Deployments with, say, the
//     same port twice, and because an object is to be stored as it was written;
//   - how to merge what is inside a list, because such lists are replaced as a whole;
//   - ephemeral containers, which no Deployment can have.
func slim(schema object, inList bool) {
	for _, keyword := range []string{"default", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"} {
		delete(schema, keyword)
	}
	if inList {
		delete(schema, "x-kubernetes-map-type")
	}
	properties := schema.child("properties")
	if _, ok := properties["ephemeralContainers"]; ok {
		properties["ephemeralContainers"] = map[string]any{
			"type": "array", "maxItems": 0, "items": map[string]any{"type": "object"},
		}
	}
	for _, inner := range schema.inner() {
		delete(inner, "description")
		slim(inner, inList || schema["type"] == "array")
	}
}
