package revision

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Dropped tells of the CustomResourceDefinitions with custom resources that would be deleted, as active revisions have them and the objects do
// not. What the checks of schemas are set to does not matter here, since this loses data whatever the schemas are. Findings that the extension
// exempts are marked.
func (p Preflight) Dropped(ctx context.Context, s Change) ([]crd.Finding, error) {
	stays := map[string]bool{}
	for _, u := range s.Objects {
		if u.GroupVersionKind().GroupKind() == definitionKind {
			stays[u.GetName()] = true
		}
	}
	owned, err := OwnedCRDs(ctx, p.Live, s.Revisions, stays)
	if err != nil {
		return nil, err
	}
	var findings []crd.Finding
	for _, name := range owned {
		what := Populated(ctx, p.Live, p.Count, name)
		if what == "" {
			continue
		}
		findings = append(findings, removal(name, s.Bundle.Name, what))
	}
	return exempted(s.Extension, findings)
}

// DroppedBy is Dropped for one CustomResourceDefinition that a bundle does not have and that is deleted with its objects, for those who know that.
func (p Preflight) DroppedBy(ctx context.Context, ext *olmv1.ClusterExtension, bundle, name string) ([]crd.Finding, error) {
	what := Populated(ctx, p.Live, p.Count, name)
	if what == "" {
		return nil, nil
	}
	return exempted(ext, []crd.Finding{removal(name, bundle, what)})
}

func removal(name, bundle, what string) crd.Finding {
	return crd.Finding{CRD: name, Check: crd.Removal,
		What: fmt.Sprintf("bundle %s does not have it, so that it would be deleted, but %s", bundle, what),
		Remedy: fmt.Sprintf("delete them if they are not needed, or let them be deleted with the CustomResourceDefinition: annotation %s: %s %s",
			ExemptionsKey, crd.Removal, name)}
}

// exempted marks the findings that an extension exempts.
func exempted(ext *olmv1.ClusterExtension, findings []crd.Finding) ([]crd.Finding, error) {
	if len(findings) == 0 {
		return nil, nil
	}
	policy, err := exemptions(ext)
	return policy.Exempt(findings), err
}

// DroppedError is why the findings of Dropped stand in the way; nil when they do not.
func DroppedError(findings []crd.Finding) error {
	var all []error
	for _, f := range findings {
		if err := crd.NewUnsafeError(f.CRD, []crd.Finding{f}); err != nil {
			all = append(all, fmt.Errorf("%w; %s", err, f.Remedy))
		}
	}
	return errors.Join(all...)
}

// RemovalExempt tells whether an extension lets a CustomResourceDefinition be deleted with its custom resources when an upgrade drops it.
func RemovalExempt(ext *olmv1.ClusterExtension, name string) bool {
	policy, err := exemptions(ext)
	return err == nil && len(crd.Blocking(policy.Exempt([]crd.Finding{{CRD: name, Check: crd.Removal}}))) == 0
}

// OwnedCRDs are the names of the CustomResourceDefinitions that active revisions control, but for some. What is deleted already is not
// among them. They are looked for in the cluster, which knows them even when the content of a revision is lost.
func OwnedCRDs(ctx context.Context, reader client.Reader, all []olmv1.ClusterObjectSet, except map[string]bool) ([]string, error) {
	uids := map[types.UID]bool{}
	for i := range all {
		if Active(&all[i]) {
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

// Populated says how many custom resources a CustomResourceDefinition has, or why that cannot be told; empty is for none.
func Populated(ctx context.Context, reader client.Reader, count Count, name string) string {
	if count == nil {
		count = crd.Count
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, crd)
	if apierrors.IsNotFound(err) {
		return ""
	}
	var n int64
	if err == nil {
		n, err = count(ctx, reader, crd)
	}
	return Holds(n, err)
}

// Holds says how many custom resources were counted, or why they were not; empty is for none.
func Holds(n int64, err error) string {
	switch {
	case err != nil:
		return "it is not known whether it has custom resources: " + messages.Error(err)
	case n == 0:
		return ""
	case n == 1:
		return "it has 1 custom resource"
	}
	return fmt.Sprintf("it has %d custom resources", n)
}
