package extensionplan

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/controller/clusterextension"
	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
	"fairlead.dev/fairlead/internal/preflight/permissions"
	"fairlead.dev/fairlead/internal/preflight/permissions/live"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// check makes the checks that the controller makes before it writes.
func (p Planner) check(ctx context.Context, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, now []*unstructured.Unstructured, w *wanted, plan *Plan) error {
	if err := p.namespace(ctx, ext, plan); err != nil {
		return err
	}
	if err := p.definitions(ctx, ext, w, plan); err != nil {
		return err
	}
	if err := p.dropped(ctx, ext, revisions, w, plan); err != nil {
		return err
	}
	if err := p.collisions(ctx, ext, now, w, plan); err != nil {
		return err
	}
	if ext.Spec.ServiceAccount != nil && ext.Spec.ServiceAccount.Name != "" {
		if err := p.account(ctx, ext, w, plan); err != nil {
			return err
		}
	}
	more := permissions.Compare(now, w.objects)
	if more.Empty() {
		return nil
	}
	plan.Permissions = more.String()
	another := plan.Installed.Bundle != plan.Wanted.Bundle || plan.Installed.Image != plan.Wanted.Image
	if clusterextension.Installed(revisions) != nil && !w.repeated && another && !clusterextension.IsAcknowledged(ext, more.Digest()) {
		plan.Blocked = append(plan.Blocked, fmt.Sprintf("the upgrade waits until somebody agrees to the added permissions: fairlead upgrade %s --acknowledge-permissions %s", ext.Name, more.Digest()))
	}
	return nil
}

// namespace has to be there.
func (p Planner) namespace(ctx context.Context, ext *olmv1.ClusterExtension, plan *Plan) error {
	err := p.Client.Get(ctx, client.ObjectKey{Name: ext.Spec.Namespace}, &corev1.Namespace{})
	switch {
	case apierrors.IsNotFound(err):
		plan.Blocked = append(plan.Blocked, fmt.Sprintf("there is no namespace %s: create it", ext.Spec.Namespace))
	case err != nil && !apierrors.IsForbidden(err):
		return fmt.Errorf("look for namespace %s: %w", ext.Spec.Namespace, err)
	}
	return nil
}

// definitions judges the step from each definition of the cluster to the one that is to replace it.
func (p Planner) definitions(ctx context.Context, ext *olmv1.ClusterExtension, w *wanted, plan *Plan) error {
	policy, err := clusterextension.PolicyOf(ext)
	if err != nil {
		plan.Blocked = append(plan.Blocked, err.Error())
		return nil
	}
	for _, u := range w.objects {
		if u.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		there, wanted := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
		err := p.Client.Get(ctx, client.ObjectKey{Name: u.GetName()}, there)
		if apierrors.IsNotFound(err) {
			plan.CRDs = append(plan.CRDs, CRD{Name: u.GetName(), Verdict: New})
			continue
		}
		if err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s: %w", u.GetName(), err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, wanted); err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s of the bundle: %w", u.GetName(), err)
		}
		verdict := CRD{Name: u.GetName(), Verdict: Safe}
		findings := crdupgrade.Safety(there, wanted, policy)
		for _, f := range findings {
			verdict.Findings = append(verdict.Findings, f.String())
		}
		if policy.None {
			verdict.Verdict = Unchecked
		}
		if err := crdupgrade.NewUnsafeError(u.GetName(), findings); err != nil {
			verdict.Verdict = Unsafe
			plan.Blocked = append(plan.Blocked, err.Error())
		}
		plan.CRDs = append(plan.CRDs, verdict)
	}
	return nil
}

// collisions are objects that would be added and are there already: the manager takes nothing over that it does not know.
func (p Planner) collisions(ctx context.Context, ext *olmv1.ClusterExtension, now []*unstructured.Unstructured, w *wanted, plan *Plan) error {
	had := map[string]bool{}
	for _, u := range now {
		had[nameOf(u)] = true
	}
	for _, u := range w.objects {
		if had[nameOf(u)] {
			continue
		}
		there := &metav1.PartialObjectMetadata{}
		there.SetGroupVersionKind(u.GroupVersionKind())
		err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), there)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look for %s: %w", nameOf(u), err)
		}
		owner := metav1.GetControllerOfNoCopy(there)
		switch {
		case owner == nil:
			plan.Blocked = append(plan.Blocked, fmt.Sprintf("%s is there already, and nothing says that it belongs to the extension: delete it, or rename it", nameOf(u)))
		case owner.Kind != olmv1.ClusterObjectSetKind || there.Labels[olmv1.OwnerNameKey] != ext.Name:
			plan.Blocked = append(plan.Blocked, fmt.Sprintf("%s is there already, and belongs to %s %s", nameOf(u), owner.Kind, owner.Name))
		}
	}
	return nil
}

// account is what the service account lacks.
func (p Planner) account(ctx context.Context, ext *olmv1.ClusterExtension, w *wanted, plan *Plan) error {
	name := ext.Spec.ServiceAccount.Name
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: ext.Spec.Namespace, Name: name}, &corev1.ServiceAccount{})
	if apierrors.IsNotFound(err) {
		plan.Blocked = append(plan.Blocked, fmt.Sprintf("there is no ServiceAccount %s in namespace %s: create it, or take spec.serviceAccount away", name, ext.Spec.Namespace))
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for ServiceAccount %s/%s: %w", ext.Spec.Namespace, name, err)
	}
	rules, err := live.Read(ctx, p.Client, p.Client.RESTMapper(), w.objects)
	if err != nil {
		return err
	}
	missing, err := permissions.Missing(permissions.ServiceAccount(ext.Spec.Namespace, name), rules, w.objects)
	var incomplete *permissions.IncompleteError
	if err != nil && !errors.As(err, &incomplete) {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	plan.Blocked = append(plan.Blocked, permissions.Message(missing, err))
	roles, err := permissions.Manifests(ext.Name+"-installer", permissions.ServiceAccount(ext.Spec.Namespace, name), missing)
	plan.MissingRoles = string(roles)
	return err
}
