package installplan

import (
	"context"
	"encoding/json"
	"fmt"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/unpack"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Images renders bundles from their images. It implements Bundles.
type Images struct {
	Unpacker *unpack.Unpacker
	// Reader reads CatalogSources and their pull secrets.
	Reader client.Reader
}

// Steps fetches the bundle that a lookup names.
func (r Images) Steps(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	if lookup.Path == "" {
		return nil, fmt.Errorf("bundle %s came from its catalog, not from an image; delete the InstallPlan to have it made anew", lookup.Identifier)
	}
	policy, err := r.policy(ctx, namespace)
	if err != nil {
		return nil, err
	}
	request := unpack.Request{Name: lookup.Identifier, Image: lookup.Path, Policy: policy}
	if ref := lookup.CatalogSourceRef; ref != nil {
		var source v1alpha1.CatalogSource
		err := r.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &source)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read CatalogSource %s/%s for its pull secrets: %w", ref.Namespace, ref.Name, err)
		}
		if request.Auth, err = unpack.PullSecrets(ctx, r.Reader, ref.Namespace, source.Spec.Secrets); err != nil {
			return nil, err
		}
	}
	state := r.Unpacker.Get(ctx, request, patience)
	if !state.Done() {
		return nil, &fetchError{lookup.Identifier, state}
	}
	var record struct {
		Properties []catalog.Property `json:"properties"`
	}
	if lookup.Properties != "" {
		if err := json.Unmarshal([]byte(lookup.Properties), &record); err != nil {
			return nil, fmt.Errorf("read the properties of bundle %s: %w", lookup.Identifier, err)
		}
	}
	return bundle.PlanSteps(state.Bundle, bundle.StepTarget{Namespace: namespace, Replaces: lookup.Replaces, Properties: record.Properties})
}

// policy is that of the namespace's OperatorGroup, if there is one.
func (r Images) policy(ctx context.Context, namespace string) (unpack.Policy, error) {
	var groups operatorsv1.OperatorGroupList
	if err := r.Reader.List(ctx, &groups, client.InNamespace(namespace)); err != nil {
		return unpack.Policy{}, fmt.Errorf("list the OperatorGroups of namespace %s: %w", namespace, err)
	}
	if len(groups.Items) != 1 {
		return unpack.Policy{}, nil
	}
	return unpack.PolicyOf(groups.Items[0].Annotations)
}
