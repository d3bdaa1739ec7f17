// Package crds holds the CustomResourceDefinitions of all kinds, generated from the Go types beside it and embedded.
//
// It never talks to a cluster. Start reading at All. The YAML files come from go generate: controller-gen writes them
// and internal/finish makes them small enough for kubectl apply, and copies them to the Helm chart, which has to be whole by itself; change the Go types,
// never the files.
package crds

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:generate go tool controller-gen crd:generateEmbeddedObjectMeta=true paths=../operators/...;../olm/... output:crd:dir=.
//go:generate go run ./internal/finish . ../../config/chart/crds

//go:embed *.yaml
var files embed.FS

// All returns the CustomResourceDefinitions of all kinds, in the order of their names within a group. Each call returns
// fresh copies.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the embedded CustomResourceDefinitions: %w", err)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(names))
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the embedded CustomResourceDefinition %s: %w", name, err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("decode the embedded CustomResourceDefinition %s, which go generate of package crds makes: %w", name, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}
