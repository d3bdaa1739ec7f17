package catalogtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// examplesAnnotation is where a ClusterServiceVersion has an example of each of its custom resources.
const examplesAnnotation = "alm-examples"

// resource is a custom resource that the test has made.
type resource struct {
	schema.GroupVersionResource
	definition string // the name of the CustomResourceDefinition
	kind       string
	namespace  string
	name       string
	spec       any                              // as the API server took it
	schema     *apiextensionsv1.JSONSchemaProps // of the spec, by which it did; nil where there is none
}

func (c *resource) String() string {
	return object{schema.GroupVersionKind{Group: c.Group, Version: c.Version, Kind: c.kind}, c.namespace, c.name}.String()
}

// api is where the custom resource is read in a version.
func (c *resource) api(d dynamic.Interface, version string) dynamic.ResourceInterface {
	at := c.GroupVersionResource
	at.Version = version
	if c.namespace == "" {
		return d.Resource(at)
	}
	return d.Resource(at).Namespace(c.namespace)
}

// examplesOf are the examples of a bundle. An annotation that is no list of objects has none.
func examplesOf(b *bundle.Bundle) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	var texts []json.RawMessage
	_ = json.Unmarshal([]byte(b.CSV.Annotations[examplesAnnotation]), &texts) // bundle validate reports it
	for _, text := range texts {
		if u := (&unstructured.Unstructured{}); u.UnmarshalJSON(text) == nil {
			all = append(all, u)
		}
	}
	return all
}

// exemplify makes the examples of a bundle that are not there yet, or only has the API server judge them. What that refuses is a finding.
func (w *trial) exemplify(ctx context.Context, b *bundle.Bundle, dryRun bool) ([]Finding, error) {
	var findings []Finding
	served := definitionsIn(b)
	for i, u := range examplesOf(b) {
		gvk := u.GroupVersionKind()
		at := slices.IndexFunc(served, func(d *apiextensionsv1.CustomResourceDefinition) bool {
			return d.Spec.Group == gvk.Group && d.Spec.Names.Kind == gvk.Kind && slices.Contains(servedVersions(d), gvk.Version)
		})
		if at < 0 {
			continue // of another operator
		}
		made := w.resourceOf(served[at], u, i)
		if slices.ContainsFunc(w.resources, func(c *resource) bool { return c.definition == made.definition && c.name == made.name }) {
			continue
		}
		u.SetNamespace(made.namespace)
		u.SetName(made.name)
		u.SetGenerateName("")
		unstructured.RemoveNestedField(u.Object, "status")
		created, err := w.createExample(ctx, made, u, dryRun)
		switch {
		case err != nil && ctx.Err() == nil:
			findings = append(findings, Finding{Rule: ExampleRefused, Object: made.String(), Message: fmt.Sprintf("the API server refuses the example in annotation %s: %v", examplesAnnotation, err), Remedy: help(ExampleRefused).Remedy})
		case err != nil:
			return findings, fmt.Errorf("create the example %s: %w", made, err)
		case !dryRun:
			made.spec, made.schema = created.Object["spec"], specSchema(served[at], gvk.Version)
			w.resources = append(w.resources, made)
		}
	}
	return findings, nil
}

// resourceOf is the place of an example.
func (w *trial) resourceOf(d *apiextensionsv1.CustomResourceDefinition, u *unstructured.Unstructured, i int) *resource {
	gvk := u.GroupVersionKind()
	made := &resource{GroupVersionResource: schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: d.Spec.Names.Plural}, definition: d.Name, kind: gvk.Kind, name: u.GetName()}
	if d.Spec.Scope == apiextensionsv1.NamespaceScoped {
		made.namespace = w.watched
	}
	if made.name == "" {
		made.name = fmt.Sprintf("example-%d", i+1)
	}
	return made
}

// createExample creates an example. An API that was registered a moment ago may not be served yet. It is applied, because the API server keeps who creates
// an object of a new definition waiting for two seconds; only fields that the definition does not have are left out of what is created, and refused here.
func (w *trial) createExample(ctx context.Context, made *resource, u *unstructured.Unstructured, dryRun bool) (created *unstructured.Unstructured, err error) {
	apply := metav1.ApplyOptions{FieldManager: string(fieldOwner), Force: true}
	create := metav1.CreateOptions{FieldManager: string(fieldOwner)}
	if dryRun {
		apply.DryRun, create.DryRun = []string{metav1.DryRunAll}, []string{metav1.DryRunAll}
	}
	api := made.api(w.dynamic, made.Version)
	err = w.shortly(ctx, func() (again bool, err error) {
		created, err = api.Apply(ctx, made.name, u, apply)
		if err != nil && strings.Contains(err.Error(), "typed patch object") {
			created, err = api.Create(ctx, u, create)
		}
		return apierrors.IsNotFound(err) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err), err
	})
	return created, err
}

// intact finds what became of the custom resources: each has to be there, to be read in every version that is served, and to have what it had.
func (w *trial) intact(ctx context.Context, after string) ([]Finding, error) {
	var findings []Finding
	for _, c := range w.resources {
		d, err := w.definition(ctx, c.definition)
		if err != nil {
			return findings, err
		}
		if d == nil {
			findings = append(findings, Finding{Rule: CustomResourceLost, Object: c.String(), Message: fmt.Sprintf("%s: CustomResourceDefinition %s is gone, and this with it", after, c.definition), Remedy: help(CustomResourceLost).Remedy})
			continue
		}
		for _, version := range servedVersions(d) {
			found, err := w.judge(ctx, c, version, after)
			if err != nil {
				return findings, err
			}
			findings = append(findings, found...)
		}
	}
	return findings, nil
}

// judge reads a custom resource in a version.
func (w *trial) judge(ctx context.Context, c *resource, version, after string) ([]Finding, error) {
	var live *unstructured.Unstructured
	err := w.shortly(ctx, func() (again bool, err error) {
		live, err = c.api(w.dynamic, version).Get(ctx, c.name, metav1.GetOptions{})
		return err != nil && !isMissing(err), err
	})
	finding := func(rule Rule, format string, args ...any) []Finding {
		return []Finding{{Rule: rule, Object: c.String(), Message: after + ": " + fmt.Sprintf(format, args...), Remedy: help(rule).Remedy}}
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case isMissing(err):
		return finding(CustomResourceLost, "it is gone"), nil
	case err != nil:
		return finding(CustomResourceUnreadable, "it cannot be read as %s: %v", version, err), nil
	}
	if version != c.Version {
		return nil, nil // what it is there is for the conversion to say
	}
	if lost := changedFields("spec", c.spec, live.Object["spec"], c.schema); len(lost) > 0 {
		return finding(CustomResourceChanged, "%s", strings.Join(lost[:min(len(lost), 5)], "; ")), nil
	}
	return nil, nil
}

// isMissing tells an object that is not there from a resource that is not served, or not yet.
func isMissing(err error) bool {
	status := apierrors.APIStatus(nil)
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// specSchema is the schema of the spec in a version.
func specSchema(d *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.JSONSchemaProps {
	for _, v := range d.Spec.Versions {
		if v.Name == version && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			spec := v.Schema.OpenAPIV3Schema.Properties["spec"]
			return &spec
		}
	}
	return nil
}

// changedFields are the fields of which a value has another one, or none, and those that it got although the schema by which it was written had them already:
// their defaults came later. Defaults of fields that are new do not count.
func changedFields(path string, was, is any, schema *apiextensionsv1.JSONSchemaProps) []string {
	switch before := was.(type) {
	case map[string]any:
		return changedMembers(path, before, is, schema)
	case []any:
		after, ok := is.([]any)
		if !ok || len(after) != len(before) {
			return []string{fmt.Sprintf("%s had %d items", path, len(before))}
		}
		var items *apiextensionsv1.JSONSchemaProps
		if schema != nil && schema.Items != nil {
			items = schema.Items.Schema
		}
		var changed []string
		for i := range before {
			changed = append(changed, changedFields(fmt.Sprintf("%s[%d]", path, i), before[i], after[i], items)...)
		}
		return changed
	}
	if !equality.Semantic.DeepEqual(was, is) {
		return []string{fmt.Sprintf("%s was %v and is %v", path, was, is)}
	}
	return nil
}

// changedMembers is changedFields for an object.
func changedMembers(path string, before map[string]any, is any, schema *apiextensionsv1.JSONSchemaProps) []string {
	after, ok := is.(map[string]any)
	if !ok {
		if len(before) == 0 && is == nil {
			return nil
		}
		return []string{path + " is gone"}
	}
	member := func(name string) *apiextensionsv1.JSONSchemaProps {
		if schema != nil {
			if s, known := schema.Properties[name]; known {
				return &s
			}
		}
		return nil
	}
	var changed []string
	for name, value := range before {
		now, there := after[name]
		if !there && value != nil {
			changed = append(changed, path+"."+name+" is gone")
		} else if there {
			changed = append(changed, changedFields(path+"."+name, value, now, member(name))...)
		}
	}
	for name, value := range after {
		if _, there := before[name]; !there && member(name) != nil {
			changed = append(changed, fmt.Sprintf("%s.%s was not set and is %v", path, name, value))
		}
	}
	slices.Sort(changed)
	return changed
}

// servedVersions are the versions in which objects can be read.
func servedVersions(d *apiextensionsv1.CustomResourceDefinition) []string {
	var served []string
	for _, v := range d.Spec.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	return served
}

// forget deletes the custom resources of the walk, while the operator still runs and can do what their finalizers stand for.
func (w *trial) forget(ctx context.Context) error {
	for _, c := range w.resources {
		d, err := w.definition(ctx, c.definition)
		if err != nil {
			return err
		}
		if d == nil || len(servedVersions(d)) == 0 {
			continue
		}
		err = c.api(w.dynamic, servedVersions(d)[0]).Delete(ctx, c.name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete the example %s: %w", c, err)
		}
	}
	w.resources = nil
	return nil
}
