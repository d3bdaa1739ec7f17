package clusterextension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// The OperatorCondition of an extension has its name, and is no part of a revision: it outlives upgrades, which it can hold up, and it is the
// manager's, so that a service account that installs extensions needs no right to it.

// told is who may write an OperatorCondition: it is kept with the revision, for when a person deletes the OperatorCondition.
type told struct {
	ServiceAccounts []string `json:"serviceAccounts,omitempty"`
	Deployments     []string `json:"deployments,omitempty"`
}

// keepCondition makes the OperatorCondition say what is noted on a revision. An object of that name that is not the extension's stays as it
// is: the operator is told its name all the same, and cannot write it. One that was adopted with the operator says what it said before.
func (c *Controller) keepCondition(ctx context.Context, ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) error {
	text, adopted := r.Annotations[conditionKey], r.Annotations[revision.ConditionNameKey] != ""
	if text == "" {
		return nil
	}
	var who told
	if err := json.Unmarshal([]byte(text), &who); err != nil {
		return fmt.Errorf("read annotation %s of the newest revision of ClusterExtension %s: %w", conditionKey, ext.Name, err)
	}
	live, err := revision.Condition(ctx, c.client, ext, r)
	if err != nil {
		return err
	}
	if live != nil && adopted {
		if revision.Owns(ext, live) {
			return nil
		}
		who = told{live.Spec.ServiceAccounts, live.Spec.Deployments}
	} else if live != nil && (!revision.Owns(ext, live) || slices.Equal(live.Spec.ServiceAccounts, who.ServiceAccounts) && slices.Equal(live.Spec.Deployments, who.Deployments)) {
		return nil
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{}}
	_ = unstructured.SetNestedStringSlice(wanted.Object, who.ServiceAccounts, "spec", "serviceAccounts") // fails only where spec is no map
	_ = unstructured.SetNestedStringSlice(wanted.Object, who.Deployments, "spec", "deployments")
	wanted.SetGroupVersionKind(v2.GroupVersion.WithKind(v2.OperatorConditionKind))
	wanted.SetNamespace(ext.Spec.Namespace)
	wanted.SetName(revision.ConditionName(ext, r))
	wanted.SetLabels(map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue, olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)})
	wanted.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: ext.Name, UID: ext.UID}})
	if err := rollout.Assert(ctx, c.client, client.ApplyConfigurationFromUnstructured(wanted), fieldOwner); err != nil {
		return fmt.Errorf("write OperatorCondition %s/%s, through which the operator says whether it can be upgraded: %w", ext.Spec.Namespace, wanted.GetName(), err)
	}
	return nil
}

// keptFor is the extension that an OperatorCondition, or a Secret with a serving certificate, is kept for.
func keptFor(_ context.Context, o client.Object) []ctrl.Request {
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == olmv1.ClusterExtensionKind && r.APIVersion == olmv1.GroupVersion.String() {
			return []ctrl.Request{requestFor(r.Name)}
		}
	}
	return nil
}
