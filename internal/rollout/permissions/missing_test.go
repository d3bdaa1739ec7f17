package permissions

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

var update = flag.Bool("update", false, "write what was found into the golden files")

// TestMissing reads files with the sections subject (namespace/name), cluster, objects and needs, and compares what is missing with the
// section missing, and the manifests that grant it with the section manifests where there is one.
func TestMissing(t *testing.T) {
	each(t, "testdata/missing/*.txtar", func(t *testing.T, sections map[string]string) map[string]string {
		namespace, name, _ := strings.Cut(strings.TrimSpace(sections["subject"]), "/")
		subject := ServiceAccount(namespace, name)
		var needs []Need
		must.NoError(t, yaml.UnmarshalStrict([]byte(sections["needs"]), &needs))
		cluster := clusterOf(t, documents(t, sections["cluster"]))
		objects := documents(t, sections["objects"])
		missing, err := Missing(subject, cluster.Source(), objects, needs...)
		got := map[string]string{"missing": ""}
		for _, rule := range missing {
			got["missing"] += rule.String() + "\n"
		}
		if err != nil {
			got["missing"] += err.Error() + "\n"
		}
		manifests, manifestErr := Manifests("installer", subject, missing)
		must.NoError(t, manifestErr)
		if _, ok := sections["manifests"]; ok {
			got["manifests"] = string(manifests)
		}
		// What is said to be missing has to be enough.
		granted := clusterOf(t, append(documents(t, sections["cluster"]), documents(t, string(manifests))...))
		if rest, _ := Missing(subject, granted.Source(), objects, needs...); len(rest) > 0 {
			t.Errorf("with the manifests applied, this is still missing: %v", rest)
		}
		return got
	})
}

// each compares sections of golden files with what is found for their other sections.
func each(t *testing.T, pattern string, find func(*testing.T, map[string]string) map[string]string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive := must.Value(txtar.ParseFile(file))(t)
			sections := map[string]string{}
			for _, section := range archive.Files {
				sections[section.Name] = string(section.Data)
			}
			got := find(t, sections)
			if *update {
				for i := range archive.Files {
					if text, ok := got[archive.Files[i].Name]; ok {
						archive.Files[i].Data = []byte(text)
					}
				}
				must.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
			for name, text := range got {
				if diff := cmp.Diff(sections[name], text); diff != "" && !*update {
					t.Errorf("section %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func documents(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range bytes.Split([]byte(text), []byte("---\n")) {
		object := map[string]any{}
		must.NoErrorf(t, yaml.UnmarshalStrict(document, &object), "UnmarshalStrict")
		if len(object) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: object})
		}
	}
	return objects
}

// clusterOf sorts objects by kind.
func clusterOf(t *testing.T, objects []*unstructured.Unstructured) RBAC {
	t.Helper()
	cluster := RBAC{Resources: someResources()}
	for _, object := range objects {
		var into any
		switch object.GetKind() {
		case "ClusterRole":
			into = appended(&cluster.ClusterRoles, &rbacv1.ClusterRole{})
		case "ClusterRoleBinding":
			into = appended(&cluster.ClusterRoleBindings, &rbacv1.ClusterRoleBinding{})
		case "Role":
			into = appended(&cluster.Roles, &rbacv1.Role{})
		case "RoleBinding":
			into = appended(&cluster.RoleBindings, &rbacv1.RoleBinding{})
		default:
			t.Fatalf("a cluster with a %s", object.GetKind())
		}
		must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into))
	}
	return cluster
}

func appended[T any](list *[]T, item T) T {
	*list = append(*list, item)
	return item
}

// someResources knows some kinds that every cluster has.
func someResources() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "Service"},
		{Version: "v1", Kind: "ServiceAccount"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
	} {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Namespace"}, {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	} {
		mapper.Add(kind, meta.RESTScopeRoot)
	}
	return mapper
}
