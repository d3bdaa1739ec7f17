package preview

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// installed is the content of the revision that is installed, which everything that changes is compared with.
func (p Planner) installed(ctx context.Context, ext *olmv1.ClusterExtension, installed *olmv1.ClusterObjectSet, wanted PlannedVersion) ([]*unstructured.Unstructured, error) {
	if installed == nil {
		return nil, nil
	}
	now, err := revision.Content(ctx, p.Client, installed)
	if errors.As(err, new(*revision.LostContentError)) {
		err = fmt.Errorf("%w; %s", err, revision.Restore)
		// A version that is named is installed without being compared; the same one again would be no new revision.
		if ext.Annotations[snapshot.BundleImageKey] == "" && wanted.Version != installed.Annotations[olmv1.BundleVersionKey] {
			err = fmt.Errorf("%w, or, to have a version with new content without a plan, fairlead upgrade %s --version %s", err, ext.Name, wanted.Version)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s with what is installed, revision %d: %w", wanted.Bundle, installed.Spec.Revision, err)
	}
	return now, nil
}

// asKept makes objects what a revision would keep of them, so that they can be compared with those of another one.
func asKept(ctx context.Context, ext *olmv1.ClusterExtension, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	r, err := revision.Build(revision.Options{Extension: revision.Extension{Name: ext.Name, Namespace: ext.Spec.Namespace}, Number: 1, SystemNamespace: "nowhere", Objects: objects})
	if err != nil {
		return nil, err
	}
	return revision.Objects(ctx, secrets(r.Secrets), r.Set)
}

// secrets is a reader of Secrets that are in no cluster.
type secrets []*corev1.Secret

// Get finds a Secret by its name.
func (all secrets) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	u, ok := into.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("read %T %s: only Secrets are here", into, key)
	}
	for _, s := range all {
		if s.Name == key.Name && s.Namespace == key.Namespace {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
			u.Object = content
			return err
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
}

// List is not needed.
func (all secrets) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("there is no list of Secrets that are in no cluster")
}
