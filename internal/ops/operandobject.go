package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operand is a custom resource as YAML.
type Operand struct {
	Definition string `json:"definition"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	YAML       string `json:"yaml"`
	// Deleting: it waits for its finalizers.
	Deleting   bool     `json:"deleting,omitempty"`
	Finalizers []string `json:"finalizers,omitempty"`
}

// GVK is the kind of the custom resources, in the version that was listed.
func (k OperandKind) GVK() schema.GroupVersionKind {
	_, group, _ := strings.Cut(k.Definition, ".")
	return schema.GroupVersionKind{Group: group, Version: k.Version, Kind: k.Kind}
}

// Resource is what rights name the custom resources by, and Group the group of it.
func (k OperandKind) Resource() (resource, group string) {
	resource, group, _ = strings.Cut(k.Definition, ".")
	return resource, group
}

// FindOperandKind is the kind of a definition that an operator of a namespace owns, or of all when it is empty. No other kind can be read or written with it.
func FindOperandKind(ctx context.Context, reader client.Reader, namespace, definition string) (*OperandKind, []string, error) {
	r := &operandReader{Reader: reader, namespace: namespace, out: Operands{Kinds: []OperandKind{}}, byKind: map[string]int{}}
	if _, err := r.versions(ctx, ""); err != nil {
		return nil, nil, err
	}
	if _, err := r.extensions(ctx, ""); err != nil {
		return nil, nil, err
	}
	i, there := r.byKind[definition]
	if !there && len(r.byKind) == 0 && namespace != "" {
		if err := Absent(ctx, reader, namespace); err != nil {
			return nil, r.out.Notes, err
		}
	}
	if !there {
		resource, group, _ := strings.Cut(definition, ".")
		return nil, r.out.Notes, fmt.Errorf("find the custom resources of %s: no operator that you may see here owns that definition: %w", messages.Clean(definition),
			apierrors.NewNotFound(schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, resource+"."+group))
	}
	kind := r.out.Kinds[i]
	if problem := kind.misnamed(); problem != "" {
		return nil, r.out.Notes, &messages.AskedError{Lack: messages.NotFit, Text: fmt.Sprintf("find the custom resources of %s: %s", safetext.Quote(definition), problem)}
	}
	if kind.Version == "" {
		return nil, r.out.Notes, fmt.Errorf("find the custom resources of %s: no version of it is served; its CustomResourceDefinition says why", definition)
	}
	return &kind, r.out.Notes, nil
}

// ListOf counts the custom resources of a kind, and names the first.
func ListOf(ctx context.Context, reader client.Reader, namespace string, kind *OperandKind) (notes []string, err error) {
	r := &operandReader{Reader: reader, namespace: namespace}
	err = r.list(ctx, kind)
	return r.out.Notes, err
}

// ReadOperand reads a custom resource, as its user.
func ReadOperand(ctx context.Context, reader client.Reader, kind OperandKind, key client.ObjectKey) (*Operand, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind.GVK())
	if err := reader.Get(ctx, key, u); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind.Kind, key, err)
	}
	o := &Operand{Definition: kind.Definition, Kind: kind.Kind, Namespace: u.GetNamespace(), Name: u.GetName(), Deleting: u.GetDeletionTimestamp() != nil, Finalizers: u.GetFinalizers()}
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	text, err := messages.YAML(u.Object)
	if err != nil {
		return nil, fmt.Errorf("write %s %s as YAML: %w", kind.Kind, key, err)
	}
	o.YAML = string(text)
	return o, nil
}

// maxOperand bounds a custom resource that is written, in bytes: the API server takes no larger one.
const maxOperand = 1 << 20

// ParseOperand reads a custom resource of a kind: one object, of that kind and of no other. One without a namespace gets the given one.
func ParseOperand(kind OperandKind, namespace, text string) (*unstructured.Unstructured, error) {
	if len(text) > maxOperand {
		return nil, fmt.Errorf("read the %s: it has %d bytes, and may have %d", kind.Kind, len(text), maxOperand)
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	var found *unstructured.Unstructured
	for {
		var raw json.RawMessage
		err := documents.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the %s: it is no YAML: %w; correct the line that is named", kind.Kind, err)
		}
		if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("read the %s: there is more than one object: write one at a time", kind.Kind)
		}
		found = &unstructured.Unstructured{}
		if err := found.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("read the %s: %w; it needs apiVersion, kind and metadata", kind.Kind, err)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("read the %s: there is no object: write its YAML", kind.Kind)
	}
	if gvk := found.GroupVersionKind(); gvk.Group != kind.GVK().Group || gvk.Kind != kind.Kind {
		return nil, fmt.Errorf("read the %s: it is a %s of %s: only apiVersion %s/VERSION and kind %s can be created here", kind.Kind, messages.Clean(gvk.Kind), messages.Clean(gvk.GroupVersion().String()),
			kind.GVK().Group, kind.Kind)
	}
	if found.GetNamespace() == "" {
		found.SetNamespace(namespace)
	}
	if found.GetName() == "" && found.GetGenerateName() == "" {
		return nil, fmt.Errorf("read the %s: it has no name: write metadata.name", kind.Kind)
	}
	return found, nil
}

// CreateOperand creates a custom resource; with dryRun the API server only says whether it would take it. The server refuses fields that the
// definition does not have.
func CreateOperand(ctx context.Context, c client.Client, o *unstructured.Unstructured, dryRun bool) error {
	options := []client.CreateOption{fieldOwner, client.FieldValidation("Strict")}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	if namespaced, err := c.IsObjectNamespaced(o); err == nil && !namespaced {
		o.SetNamespace("")
	}
	if err := c.Create(ctx, o, options...); err != nil {
		return fmt.Errorf("create %s %s: %w", o.GetKind(), strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/"), err)
	}
	return nil
}

// DeleteOperand deletes a custom resource. It may stay until its finalizers are done.
func DeleteOperand(ctx context.Context, c client.Client, kind OperandKind, key client.ObjectKey) error {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind.GVK())
	u.SetNamespace(key.Namespace)
	u.SetName(key.Name)
	if err := c.Delete(ctx, u); err != nil {
		return fmt.Errorf("delete %s %s: %w", kind.Kind, strings.TrimPrefix(key.String(), "/"), err)
	}
	return nil
}

// Bounds of examples.
const (
	maxExamples    = 20
	examplesKey    = "alm-examples"
	maxExampleText = 64 << 10
)

// OperandExamples are custom resources of a kind that operators of a namespace give as examples, as YAML without status. Where none does it is the
// least that such a resource has.
func OperandExamples(ctx context.Context, reader client.Reader, namespace string, kind OperandKind) ([]string, error) {
	var list v1alpha1.ClusterServiceVersionList
	if err := reader.List(ctx, &list, client.InNamespace(namespace)); err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("list the ClusterServiceVersions, which have examples: %w", err)
	}
	var all []string
	for i := range list.Items {
		var examples []map[string]any
		if json.Unmarshal([]byte(list.Items[i].Annotations[examplesKey]), &examples) != nil {
			continue // what a bundle has there is not checked by anything
		}
		for _, example := range examples {
			u := &unstructured.Unstructured{Object: example}
			if gvk := u.GroupVersionKind(); gvk.Group != kind.GVK().Group || gvk.Kind != kind.Kind || len(all) == maxExamples {
				continue
			}
			unstructured.RemoveNestedField(example, "status")
			if text, err := messages.YAML(example); err == nil && len(text) <= maxExampleText && !slices.Contains(all, string(text)) {
				all = append(all, string(text))
			}
		}
	}
	if len(all) == 0 {
		all = []string{fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: example\nspec: {}\n", kind.GVK().GroupVersion(), kind.Kind)}
	}
	return all, nil
}
