package ops

import (
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
	findings, err := revision.Preflight{Live: reader}.DroppedBy(ctx, r.ext, r.To.Bundle, name)
	if err != nil {
		return err
	}
	if err := revision.DroppedError(findings); err != nil {
		r.Blocked = append(r.Blocked, err.Error())
	}
	return nil
}

// judge asks the judge of the manager about the way back. Exemptions of the extension do not count: what goes is always reported.
func (r *Rollback) judge(ctx context.Context, reader client.Reader, live, wanted *apiextensionsv1.CustomResourceDefinition) error {
	back, err := crd.GoBack(ctx, reader, live, wanted, crd.Policy{})
	if err != nil {
		return err
	}
	for _, v := range live.Spec.Versions {
		if v.Served && !crd.Serves(wanted, v.Name) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("CustomResourceDefinition %s: version %s is served no more: clients that use it stop working", live.Name, v.Name))
		}
	}
	for _, f := range back.Proven {
		r.Proven = append(r.Proven, fmt.Sprintf("CustomResourceDefinition %s: %s (%d custom resources checked)", live.Name, f, back.Objects))
		r.exemptions = append(r.exemptions, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", f.Check, live.Name, f.Path)), " "))
	}
	r.Blocked = append(r.Blocked, back.Blocked...)
	return nil
}
