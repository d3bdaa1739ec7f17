package catalogsource

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/content/image"
)

// operator is a bundle to publish.
type operator struct {
	pkg, version, replaces string
	kind                   string            // of the API that it owns, if any
	requires               string            // kind of the API that it needs, if any
	files                  map[string]string // besides its ClusterServiceVersion
	csv                    string            // instead of the usual one
}

func (o operator) name() string { return o.pkg + ".v" + o.version }

func (w *world) group() string { return w.Namespace + ".example.com" }

// api describes an API in a ClusterServiceVersion.
func (w *world) api(kind string) string {
	if kind == "" {
		return "[]"
	}
	return fmt.Sprintf(`[{"name":"%ss.%s","version":"v1","kind":%q,"displayName":"x"}]`, strings.ToLower(kind), w.group(), kind)
}

func (w *world) csv(o operator) string {
	if o.csv != "" {
		return o.csv
	}
	return fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":%q},"spec":{"displayName":%q,"version":%q,"replaces":%q,
		"customresourcedefinitions":{"owned":%s,"required":%s},"installModes":[{"type":"OwnNamespace","supported":true}],
		"install":{"strategy":"deployment","spec":{"deployments":[{"name":%[2]q,"spec":{"replicas":1,"selector":{"matchLabels":{"app":%[2]q}},
		"template":{"metadata":{"labels":{"app":%[2]q}},"spec":{"containers":[{"name":"op","image":"registry.example.com/%[2]s:%[3]s"}]}}}}]}}}}`,
		o.name(), o.pkg, o.version, o.replaces, w.api(o.kind), w.api(o.requires))
}

// publish makes a catalog of operators, those of a package in the order of their versions.
func (w *world) publish(operators ...operator) {
	w.Helper()
	var b strings.Builder
	entries := map[string][]string{}
	for _, o := range operators {
		if entries[o.pkg] == nil {
			fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`, o.pkg)
		}
		entries[o.pkg] = append(entries[o.pkg], fmt.Sprintf(`{"name":%q,"replaces":%q}`, o.name(), o.replaces))
		properties := []string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":%q}}`, o.pkg, o.version)}
		for kind, property := range map[string]string{o.kind: "olm.gvk", o.requires: "olm.gvk.required"} {
			if kind != "" {
				properties = append(properties, fmt.Sprintf(`{"type":%q,"value":{"group":%q,"version":"v1","kind":%q}}`, property, w.group(), kind))
			}
		}
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":%q,"properties":[%s]}`, o.pkg, o.name(), w.bundle(o), strings.Join(properties, ","))
	}
	for pkg, list := range entries {
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[%s]}`, pkg, strings.Join(list, ","))
	}
	content := b.String()
	w.push("catalog:latest", map[string]string{"configs/catalog.json": content}, image.CatalogLabels())
}

// bundle pushes the bundle of an operator.
func (w *world) bundle(o operator) string {
	w.Helper()
	files := map[string]string{"manifests/csv.json": w.csv(o),
		"metadata/annotations.json": fmt.Sprintf(`{"annotations":{"operators.operatorframework.io.bundle.package.v1":%q,"operators.operatorframework.io.bundle.channels.v1":"stable",`+
			`"operators.operatorframework.io.bundle.mediatype.v1":"registry+v1","operators.operatorframework.io.bundle.manifests.v1":"manifests/","operators.operatorframework.io.bundle.metadata.v1":"metadata/"}}`, o.pkg)}
	if o.kind != "" {
		lower := strings.ToLower(o.kind)
		files["manifests/crd.json"] = fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]ss.%[2]s"},
		"spec":{"group":%[2]q,"scope":"Namespaced","names":{"plural":"%[1]ss","singular":%[1]q,"kind":%[3]q},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":1}}}}}}}]}}`,
			lower, w.group(), o.kind)
	}
	for path, content := range o.files {
		files[path] = content
	}
	return w.push(o.pkg+"-bundle:v"+o.version, files, image.BundleLabels(o.pkg, []string{"stable"}, "stable"))
}
