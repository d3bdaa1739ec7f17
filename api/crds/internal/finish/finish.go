package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// embedded lists, for each CustomResourceDefinition, where the types of Kubernetes for pods begin.
var embedded = map[string][]string{
	"clusterserviceversions.operators.coreos.com": {"spec.install.spec.deployments[].spec"},
	"subscriptions.operators.coreos.com": {
		"spec.config.affinity", "spec.config.env", "spec.config.envFrom", "spec.config.resources", "spec.config.tolerations",
		"spec.config.volumeMounts", "spec.config.volumes",
	},
	"catalogsources.operators.coreos.com": {"spec.grpcPodConfig.affinity", "spec.grpcPodConfig.tolerations"},
}

// optionalTimes lists, for each CustomResourceDefinition, conditions that people write by hand, without a time.
var optionalTimes = map[string][]string{
	"operatorconditions.operators.coreos.com": {"spec.overrides[]"},
}

// finishDirectory rewrites each CustomResourceDefinition of a directory.
func finishDirectory(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var crd object
		if err := yaml.Unmarshal(data, &crd); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := finish(crd); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if data, err = yaml.Marshal(crd); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(name, append([]byte("---\n"), data...), 0o644); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// finish changes the schemas of one CustomResourceDefinition in place.
func finish(crd object) error {
	name, _ := crd.child("metadata")["name"].(string)
	versions, _ := crd.child("spec")["versions"].([]any)
	if name == "" || len(versions) == 0 {
		return fmt.Errorf("not a CustomResourceDefinition with a name and versions")
	}
	for _, version := range versions {
		root := object(version.(map[string]any)).child("schema").child("openAPIV3Schema")
		harden(root)
		listDefaults(root)
		for _, path := range embedded[name] {
			node, err := root.at(path)
			if err != nil {
				return err
			}
			slim(node, strings.Contains(path, "[]"))
		}
		for _, path := range optionalTimes[name] {
			node, err := root.at(path)
			if err != nil {
				return err
			}
			makeTimeOptional(node)
		}
	}
	return nil
}

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

// listDefaults makes the default of a status have an empty list where its field is a list. A marker can write only {}, which is an object.
func listDefaults(root object) {
	status := root.child("properties").child("status")
	defaults, _ := status["default"].(map[string]any)
	for field, value := range defaults {
		empty, ok := value.(map[string]any)
		if ok && len(empty) == 0 && status.child("properties").child(field)["type"] == "array" {
			defaults[field] = []any{}
		}
	}
}
