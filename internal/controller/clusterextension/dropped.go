package clusterextension

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
	"fairlead.dev/fairlead/internal/stored"
	"fairlead.dev/fairlead/internal/trouble"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Count is how many custom resources of a CustomResourceDefinition there are.
type Count func(ctx context.Context, reader client.Reader, crd *apiextensionsv1.CustomResourceDefinition) (int64, error)

// checkDropped refuses content without a CustomResourceDefinition that active revisions have: they would take it, and all custom resources,
// with them. What the checks of schemas are set to does not matter here, since this loses data whatever the schemas are.
func (c *Controller) checkDropped(ctx context.Context, s *state, made *content) error {
	findings, err := dropped(ctx, c.live, c.count, s.ext, s.revisions, made.name, made.objects)
	if err != nil {
		return err
	}
	err = DroppedError(findings)
	if _, asked := s.ext.Annotations[RollbackToKey]; err != nil && made.repeated && !asked {
		return fmt.Errorf("%w\nso revision %s, whose roll-out has failed, stays, and is not gone back from", err, s.revisions.newest().Name)
	}
	return err
}

// Dropped tells of the CustomResourceDefinitions with custom resources that would be deleted if the active ones of some revisions were
// followed by one with other objects, those of a bundle. Findings that the extension exempts are marked.
func Dropped(ctx context.Context, reader client.Reader, ext *olmv1.ClusterExtension, all []olmv1.ClusterObjectSet, bundle string,
	objects []*unstructured.Unstructured) ([]crdupgrade.Finding, error) {
	return dropped(ctx, reader, nil, ext, all, bundle, objects)
}

// DroppedError is why the findings of Dropped stand in the way; nil when they do not.
func DroppedError(findings []crdupgrade.Finding) error {
	var all []error
	for _, f := range findings {
		if err := crdupgrade.NewUnsafeError(f.CRD, []crdupgrade.Finding{f}); err != nil {
			all = append(all, fmt.Errorf("%w; %s", err, f.Remedy))
		}
	}
	return errors.Join(all...)
}

func dropped(ctx context.Context, reader client.Reader, count Count, ext *olmv1.ClusterExtension, all revisions, bundle string,
	objects []*unstructured.Unstructured) ([]crdupgrade.Finding, error) {
	stays := map[string]bool{}
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() == crdKind {
			stays[u.GetName()] = true
		}
	}
	owned, err := ownedCRDs(ctx, reader, all, stays)
	if err != nil {
		return nil, err
	}
	var findings []crdupgrade.Finding
	for _, name := range owned {
		what := populated(ctx, reader, count, name)
		if what == "" {
			continue
		}
		findings = append(findings, crdupgrade.Finding{CRD: name, Check: crdupgrade.Removal,
			What: fmt.Sprintf("bundle %s does not have it, so that it would be deleted, but %s", bundle, what),
			Remedy: fmt.Sprintf("delete them if nobody needs them, or let them be deleted with the CustomResourceDefinition: annotation %s: %s %s",
				CRDExemptionsKey, crdupgrade.Removal, name)})
	}
	if len(findings) == 0 {
		return nil, nil
	}
	policy, err := exemptions(ext)
	return policy.Exempt(findings), err
}

// ownedCRDs are the names of the CustomResourceDefinitions that active revisions control, but for some. What is deleted already is not
// among them. They are looked for in the cluster, which knows them even when the content of a revision is lost.
func ownedCRDs(ctx context.Context, reader client.Reader, all revisions, except map[string]bool) ([]string, error) {
	uids := map[types.UID]bool{}
	for i := range all {
		if active(&all[i]) {
			uids[all[i].UID] = true
		}
	}
	if len(uids) == 0 {
		return nil, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list the CustomResourceDefinitions, to see which of them would be deleted: %w", err)
	}
	var names []string
	for i := range list.Items {
		crd := &list.Items[i]
		owner := metav1.GetControllerOfNoCopy(crd)
		if owner != nil && owner.Kind == olmv1.ClusterObjectSetKind && uids[owner.UID] && crd.DeletionTimestamp.IsZero() && !except[crd.Name] {
			names = append(names, crd.Name)
		}
	}
	return names, nil
}

// populated says how many custom resources a CustomResourceDefinition has, or why that cannot be told; empty is for none.
func populated(ctx context.Context, reader client.Reader, count Count, name string) string {
	if count == nil {
		count = stored.Count
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, crd)
	if apierrors.IsNotFound(err) {
		return ""
	}
	var n int64
	if err == nil && crdupgrade.ReadVersion(crd) == "" {
		err = errors.New("it serves no version")
	}
	if err == nil {
		n, err = count(ctx, reader, crd)
	}
	switch {
	case err != nil:
		return "it cannot be told whether it has custom resources: " + trouble.Text(err)
	case n == 0:
		return ""
	case n == 1:
		return "it has 1 custom resource"
	}
	return fmt.Sprintf("it has %d custom resources", n)
}
