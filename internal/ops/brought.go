package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// definitions are the CustomResourceDefinitions of the versions of an operator. Those that others own or need, or that were there before it,
// stay.
func (r *Removal) definitions(ctx context.Context, reader client.Reader, csvs []*v1alpha1.ClusterServiceVersion, o UninstallOptions) error {
	if len(csvs) == 0 {
		return nil
	}
	var all v1alpha1.ClusterServiceVersionList
	if err := reader.List(ctx, &all); apierrors.IsForbidden(err) {
		for _, csv := range csvs {
			for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
				if !slices.ContainsFunc(r.CRDs, func(c CRD) bool { return c.Name == owned.Name }) {
					r.CRDs = append(r.CRDs, *unseenCRD(owned.Name, owned.Kind))
				}
			}
			r.cleansUp(csv)
		}
		return nil
	} else if err != nil {
		return fmt.Errorf("list the ClusterServiceVersions of the cluster, which may need the same CustomResourceDefinitions: %w", err)
	}
	mine := map[types.UID]bool{}
	for _, csv := range csvs {
		mine[csv.UID] = true
	}
	all.Items = slices.DeleteFunc(all.Items, func(csv v1alpha1.ClusterServiceVersion) bool { return mine[csv.UID] })
	for _, csv := range csvs {
		for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
			converted := slices.ContainsFunc(csv.Spec.WebhookDefinitions, func(w v1alpha1.WebhookDescription) bool { return slices.Contains(w.ConversionCRDs, owned.Name) })
			if i := slices.IndexFunc(r.CRDs, func(c CRD) bool { return c.Name == owned.Name }); i >= 0 { // of a newer version, too
				r.CRDs[i].Converted = r.CRDs[i].Converted || converted
				continue
			}
			others := users(all.Items, owned.Name)
			if others == "" {
				before, err := beforeIt(ctx, reader, csv, owned.Name)
				if err != nil {
					return err
				}
				others = before
			}
			c, err := r.crd(ctx, reader, owned.Name, o, others)
			if err != nil {
				return err
			}
			if c != nil {
				c.Converted = converted
				r.CRDs = append(r.CRDs, *c)
			}
		}
		r.cleansUp(csv)
	}
	return nil
}

// cleansUp warns of an operator whose custom resources the manager deletes.
func (r *Removal) cleansUp(csv *v1alpha1.ClusterServiceVersion) {
	if csv.Spec.Cleanup.Enabled {
		r.Warnings = append(r.Warnings, "spec.cleanup of ClusterServiceVersion "+csv.Name+" is enabled: the manager deletes custom resources of the operator first, whatever this command says about them")
	}
}

// users says which of other operators own or need a definition.
func users(all []v1alpha1.ClusterServiceVersion, name string) string {
	var own, need []string
	for i := range all {
		other := &all[i]
		if other.IsCopied() || !other.DeletionTimestamp.IsZero() {
			continue
		}
		is := func(d v1alpha1.CRDDescription) bool { return d.Name == name }
		switch {
		case slices.ContainsFunc(other.Spec.CustomResourceDefinitions.Owned, is):
			own = append(own, other.Namespace+"/"+other.Name)
		case slices.ContainsFunc(other.Spec.CustomResourceDefinitions.Required, is):
			need = append(need, other.Namespace+"/"+other.Name)
		}
	}
	switch {
	case len(own) > 0:
		return "it belongs to " + strings.Join(own, ", ") + ", too"
	case len(need) > 0:
		return strings.Join(need, ", ") + " needs it"
	}
	return ""
}

// beforeIt says that a definition was not brought by an operator. That of any version of it says so.
func beforeIt(ctx context.Context, reader client.Reader, csv *v1alpha1.ClusterServiceVersion, name string) (string, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, m); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	for key, value := range m.Annotations {
		if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) && strings.HasPrefix(value, csv.Namespace+"/") {
			return "", nil
		}
	}
	return "no InstallPlan of the namespace brought it: it was there before", nil
}
