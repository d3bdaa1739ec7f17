package registryv1

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// TestGolden renders the bundles of testdata. An archive holds the files of a bundle under in/, configurations as config/<name>.yaml, and what
// each of these gives as want/<name>.yaml; certificates are made by whom the name of the configuration begins with.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/bundle-*.txtar", func(t *testing.T, archive *golden.Archive) {
		in, files := fstest.MapFS{}, archive.Without("want/")
		for _, f := range files {
			if path, ok := strings.CutPrefix(f.Name, "in/"); ok {
				in[path] = &fstest.MapFile{Data: f.Data}
			}
		}
		for _, f := range slices.Clone(files) {
			if config, ok := strings.CutPrefix(f.Name, "config/"); ok {
				files = append(files, txtar.File{Name: "want/" + config, Data: goldenText(t, in, config, f.Data)})
			}
		}
		archive.Compare(t, files)
	})
}

func goldenText(t *testing.T, in fs.FS, name string, config []byte) []byte {
	t.Helper()
	b := must.Value(bundle.Load(in))(t)
	raw := must.Value(kyaml.YAMLToJSON(config))(t)
	o := Options{Namespace: "operators", Config: raw, OperatorCondition: "op", CA: func(string) []byte { return []byte("authority") }}
	switch {
	case strings.HasPrefix(name, "cert-manager"):
		o.Certificates = CertManager
	case strings.HasPrefix(name, "service-ca"):
		o.Certificates = ServiceCA
	}
	rendered, err := Render(b, o)
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	var out bytes.Buffer
	for _, object := range rendered.Objects {
		fmt.Fprintf(&out, "---\n%s", yamlOf(t, object.Object))
	}
	fmt.Fprintf(&out, "# serving %v\n# properties %s\n# watches %q\n", rendered.Serving, rendered.Properties, rendered.WatchNamespaces)
	return out.Bytes()
}

// realVariants are public bundles in the ways that they can be installed.
var realVariants = []struct{ bundle, name, config string }{
	{"argocd-operator/0.18.0", "all namespaces", ``},
	{"argocd-operator/0.18.0", "configured", `{"deploymentConfig": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}], "resources": {"limits": {"cpu": "1"}}, "env": [{"name": "ARGOCD_CLUSTER_CONFIG_NAMESPACES", "value": "x"}], "annotations": {"a": "b"}}}`},
	{"argocd-operator/0.18.0", "without affinity", `{"deploymentConfig": {"affinity": {}}}`},
	{"infinispan/2.5.14", "all namespaces", ``},
	{"infinispan/2.5.14", "own namespace", `{"watchNamespace": "operators"}`},
	{"infinispan/2.5.14", "single namespace", `{"watchNamespace": "tenant"}`},
	{"infinispan/2.5.14", "several namespaces", `{"watchNamespaces": ["b", "a"]}`},
	{"keycloak-operator/26.7.1", "nothing said", ``},
	{"keycloak-operator/26.7.1", "own namespace", `{"watchNamespace": "operators", "deploymentConfig": {"env": [{"name": "JAVA_OPTS", "value": "x"}], "envFrom": [{"secretRef": {"name": "s"}}]}}`},
	{"opentelemetry-operator/0.158.0", "all namespaces", ``},
}

// TestRealGolden holds the objects of public bundles by name and digest. The bundles themselves are no part of the project.
func TestRealGolden(t *testing.T) {
	var files []txtar.File
	for _, v := range realVariants {
		var out bytes.Buffer
		rendered, err := Render(loadReal(t, v.bundle), Options{Namespace: "operators", Config: json.RawMessage(v.config)})
		if err != nil {
			fmt.Fprintln(&out, err)
		} else {
			for i, line := range listing(rendered) {
				fmt.Fprintf(&out, "%s %.12x\n", line, sha256.Sum256([]byte(asJSON(t, rendered.Objects[i]))))
			}
		}
		files = append(files, txtar.File{Name: v.bundle + ", " + v.name, Data: out.Bytes()})
	}
	golden.Read(t, "testdata/real.txtar").Compare(t, files)
}
