package revision

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/crd"
)

// Dropped judges the removal of the CustomResourceDefinitions that active revisions have and the objects do not, and returns those with custom resources,
// which would be deleted. What the checks of schemas are set to does not matter here, since this loses data whatever the schemas are. Findings that the
// extension exempts are marked.
func (p Preflight) Dropped(ctx context.Context, s Change) ([]crd.Verdict, error) {
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
	var all []crd.Verdict
	for _, name := range owned {
		v, failed := p.DroppedBy(ctx, s.Extension, s.Bundle.Name, name)
		if len(v.Findings) > 0 {
			all, err = append(all, v), failed
		}
	}
	return all, err
}

// DroppedBy is Dropped for one CustomResourceDefinition that a bundle does not have and that is deleted with its objects, for those who know that.
func (p Preflight) DroppedBy(ctx context.Context, ext *olmv1.ClusterExtension, bundle, name string) (crd.Verdict, error) {
	policy, err := exemptions(ext)
	v := removal(ctx, p.Live, p.Count, crd.Change{Bundle: bundle, Policy: &policy}, name)
	if len(v.Findings) == 0 {
		return v, nil
	}
	return v, err
}

// removal judges the removal of a CustomResourceDefinition. One that cannot be read is taken to have custom resources.
func removal(ctx context.Context, reader client.Reader, count Count, change crd.Change, name string) crd.Verdict {
	change.Live = &apiextensionsv1.CustomResourceDefinition{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, change.Live)
	switch change.Live.Name = name; {
	case apierrors.IsNotFound(err):
		return crd.Verdict{}
	case err != nil:
		count = func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
			return 0, false, err
		}
	}
	v, _ := crd.Judge(ctx, change, crd.Stored{Reader: reader, Count: count}) // the verdict says what cannot be counted
	return v
}

// DroppedError is why the verdicts of Dropped block an upgrade; nil when they do not.
func DroppedError(all []crd.Verdict) error {
	var errs []error
	for _, v := range all {
		errs = append(errs, v.Err)
	}
	return errors.Join(errs...)
}

// RemovalExempt reports whether an extension lets a CustomResourceDefinition be deleted with its custom resources when an upgrade drops it.
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

// Populated describes how many custom resources a CustomResourceDefinition has, or why they cannot be counted; empty is none.
func Populated(ctx context.Context, reader client.Reader, count Count, name string) string {
	return removal(ctx, reader, count, crd.Change{}, name).Stored
}
