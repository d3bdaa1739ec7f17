package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
	"fairlead.dev/fairlead/internal/stored"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pages is how many pages of custom resources are looked at before the context is asked again.
const pages = 10

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// definitions judges what becomes of CustomResourceDefinitions and of the custom resources that are stored.
func (r *Rollback) definitions(ctx context.Context, reader client.Reader, now, before []*unstructured.Unstructured) error {
	had := map[string]bool{}
	for _, u := range before {
		if u.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		had[u.GetName()] = true
		live, err := liveOf(ctx, reader, u.GetName())
		if err != nil {
			return err
		}
		if live == nil {
			continue // it is made again
		}
		wanted := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, wanted); err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s of revision %d: %w", u.GetName(), r.To.Number, err)
		}
		if err := r.judge(ctx, reader, live, wanted); err != nil {
			return err
		}
	}
	for _, u := range now {
		if u.GroupVersionKind().GroupKind() != crdKind || had[u.GetName()] {
			continue
		}
		if err := r.goes(ctx, reader, u.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func liveOf(ctx context.Context, reader client.Reader, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	return live, nil
}

// goes stands in the way of removing a definition that has custom resources.
func (r *Rollback) goes(ctx context.Context, reader client.Reader, name string) error {
	live, err := liveOf(ctx, reader, name)
	if live == nil {
		return err
	}
	n, err := stored.Count(ctx, reader, live)
	if err != nil {
		return err
	}
	if n > 0 {
		r.Blocked = append(r.Blocked, fmt.Sprintf("CustomResourceDefinition %s is not part of revision %d, and would be deleted with its %d custom resources: delete those first if nobody needs them", name, r.To.Number, n))
	}
	return nil
}

// judge asks the rules for upgrades about the way back. Where they would stop it because of schemas alone, all custom resources are looked
// at: what none of them uses can go.
func (r *Rollback) judge(ctx context.Context, reader client.Reader, live, wanted *apiextensionsv1.CustomResourceDefinition) error {
	var schemas []crdupgrade.Finding
	for _, f := range crdupgrade.Safety(live, wanted, crdupgrade.Policy{}) {
		switch f.Check {
		case crdupgrade.StoredVersionRemoval, crdupgrade.Scope:
			r.Blocked = append(r.Blocked, fmt.Sprintf("CustomResourceDefinition %s: %s: %s", live.Name, f, f.Remedy))
		default:
			schemas = append(schemas, f)
		}
	}
	for _, v := range live.Spec.Versions {
		if v.Served && !has(wanted, v.Name) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("CustomResourceDefinition %s: version %s is served no more: clients that use it stop working", live.Name, v.Name))
		}
	}
	if len(schemas) == 0 {
		return nil
	}
	harm, looked, err := harm(ctx, reader, live, wanted)
	if err != nil {
		return err
	}
	for _, f := range schemas {
		if len(harm) == 0 {
			r.Proven = append(r.Proven, fmt.Sprintf("CustomResourceDefinition %s: %s (%d custom resources looked at)", live.Name, f, looked))
			r.exemptions = append(r.exemptions, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", f.Check, live.Name, f.Path)), " "))
		}
	}
	r.Blocked = append(r.Blocked, harm...)
	return nil
}

// has tells whether a definition has a version, and serves it.
func has(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version && v.Served })
}

// harm is what going back would do to custom resources that are stored, and how many were looked at.
func harm(ctx context.Context, reader client.Reader, live, wanted *apiextensionsv1.CustomResourceDefinition) ([]string, int, error) {
	var versions []string
	for _, v := range live.Spec.Versions {
		if v.Served && has(wanted, v.Name) {
			versions = append(versions, v.Name)
		}
	}
	check, err := stored.NewCheck(reader, live, wanted, versions)
	if err != nil {
		return nil, 0, fmt.Errorf("compare the schemas of CustomResourceDefinition %s: %w", live.Name, err)
	}
	for !check.Done() && check.Unread == "" {
		if err := check.Advance(ctx, pages); err != nil {
			return nil, 0, err
		}
	}
	var found []string
	if check.Unread != "" {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: its custom resources cannot be looked at: %s", live.Name, check.Unread))
	}
	if check.Invalid > 0 {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %d of %d custom resources would be invalid: %s", live.Name, check.Invalid, check.Objects, texts(check.Sample)))
	}
	if check.Losing > 0 {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %d of %d custom resources would lose fields: %s", live.Name, check.Losing, check.Objects, texts(check.Losses)))
	}
	return found, check.Objects, nil
}

func texts[T fmt.Stringer](all []T) string {
	var out []string
	for _, one := range all {
		out = append(out, one.String())
	}
	return strings.Join(out, "; ")
}
