package install

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// withComponent is what kubectl apply -k makes of a kustomization beside config that names one of its components.
func withComponent(t *testing.T, component string) []*unstructured.Unstructured {
	t.Helper()
	root := t.TempDir()
	must.NoError(t, os.CopyFS(filepath.Join(root, "config"), os.DirFS(config)))
	dir := filepath.Join(root, "overlay")
	must.NoError(t, os.Mkdir(dir, 0o755))
	overlay := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../config]\ncomponents: [../config/" + component + "]\n"
	must.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600))
	return kustomized(t, dir)
}

// kustomized is what kubectl apply -k makes of a directory.
func kustomized(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	made := must.Value(krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir))(t)
	return harness.Documents(t, dir, must.Value(made.AsYaml())(t))
}
