package ops

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/platform"
)

// maxFile is how much of a file is read, in bytes.
const maxFile = 64 << 20

// Decode returns the operators of a stream of objects, in YAML or JSON: each ClusterServiceVersion by itself, and all other objects together
// by the name of the stream. What has no kind is left out.
func Decode(name string, r io.Reader) ([]platform.Operator, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	decoder := yaml.NewYAMLOrJSONDecoder(limited, 4096)
	var operators []platform.Operator
	rest := platform.Operator{Installed: platform.Installed{Name: name}}
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if limited.N == 0 {
			return nil, fmt.Errorf("read objects from %s: it has more than %d MiB", name, maxFile>>20)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read objects from %s: %w", name, err)
		}
		if object.GetKind() == "" { // no object, such as the annotations in the metadata of a bundle
			continue
		}
		if err := add(object, &operators, &rest); err != nil {
			return nil, fmt.Errorf("read objects from %s: %w", name, err)
		}
	}
	if len(rest.Uses) > 0 {
		operators = append(operators, rest)
	}
	return operators, nil
}

// add takes lists apart.
func add(object *unstructured.Unstructured, operators *[]platform.Operator, rest *platform.Operator) error {
	if object.IsList() {
		return object.EachListItem(func(item runtime.Object) error {
			return add(item.(*unstructured.Unstructured), operators, rest)
		})
	}
	if kind := object.GroupVersionKind().GroupKind(); kind.Group != v1alpha1.GroupVersion.Group || kind.Kind != "ClusterServiceVersion" {
		rest.Uses = append(rest.Uses, useOf(object))
		return nil
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, csv); err != nil {
		return fmt.Errorf("ClusterServiceVersion %s: %w", object.GetName(), err)
	}
	*operators = append(*operators, ofVersion(csv))
	return nil
}

func useOf(object *unstructured.Unstructured) platform.Use {
	return platform.Use{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Where: object.GetKind() + " " + object.GetName()}
}
