package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// crdRows checks the owned and required CRDs, by name.
func (f *facts) crdRows(ctx context.Context) ([]v1alpha1.RequirementStatus, error) {
	var rows []v1alpha1.RequirementStatus
	for _, description := range f.csv.AllCRDs() {
		row := v1alpha1.RequirementStatus{
			Group:   apiextensionsv1.GroupName,
			Version: "v1",
			Kind:    "CustomResourceDefinition",
			Name:    description.Name,
		}
		crd, err := f.readCRD(ctx, description.Name)
		if err != nil {
			return nil, err
		}
		chain, err := f.chain(ctx)
		if err != nil {
			return nil, err
		}
		row.Status, row.Message = judgeCRD(f.csv, description, crd, chain)
		if row.Message == versionNotServed && f.csv.OwnsCRD(description.Name) {
			other, err := f.otherTenant(ctx, description)
			if err != nil {
				return nil, err
			}
			row.Message += other
		}
		if row.Status == v1alpha1.RequirementStatusReasonPresent {
			row.UUID = string(crd.UID)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// readCRD reads a CRD from the cache; nil when it does not exist.
func (f *facts) readCRD(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := f.c.client.Get(ctx, client.ObjectKey{Name: name}, crd, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read CRD %s: %w", name, err)
	}
	return crd, nil
}

// versionNotServed is said of a CRD that lacks a version.
const versionNotServed = "CRD version not served"

// otherTenant names an operator of another namespace that owns the CRD in another version; empty when there is none.
func (f *facts) otherTenant(ctx context.Context, description v1alpha1.CRDDescription) (string, error) {
	var list v1alpha1.ClusterServiceVersionList
	if err := f.c.client.List(ctx, &list, client.MatchingFields{indexByAPI: crdKey(description.Name)}, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list the ClusterServiceVersions with CRD %s: %w", description.Name, err)
	}
	var others []string
	for i := range list.Items {
		other := &list.Items[i]
		for _, theirs := range other.Spec.CustomResourceDefinitions.Owned {
			if theirs.Name == description.Name && theirs.Version != description.Version && other.Namespace != f.csv.Namespace {
				others = append(others, fmt.Sprintf("ClusterServiceVersion %s/%s owns it too, with %s", other.Namespace, other.Name, theirs.Version))
			}
		}
	}
	if len(others) == 0 {
		return "", nil
	}
	return fmt.Sprintf(": %s, while ClusterServiceVersion %s/%s needs %s, and a cluster has one definition for all namespaces",
		slices.Min(others), f.csv.Namespace, f.csv.Name, description.Version), nil
}

// judgeCRD says whether a CRD meets the description, and why not.
func judgeCRD(csv *v1alpha1.ClusterServiceVersion, description v1alpha1.CRDDescription, crd *apiextensionsv1.CustomResourceDefinition, chain *chain) (v1alpha1.StatusReason, string) {
	if crd == nil {
		return v1alpha1.RequirementStatusReasonNotPresent, "CRD is not present"
	}
	if older := broughtByOlder(csv, crd, chain); csv.OwnsCRD(crd.Name) && len(older) > 0 {
		return v1alpha1.RequirementStatusReasonPresentNotSatisfied, "CRD installed alongside other CSV(s): " + strings.Join(older, ", ")
	}
	if !served(crd, description.Version) {
		return v1alpha1.RequirementStatusReasonNotPresent, versionNotServed
	}
	if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) || !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) {
		return v1alpha1.RequirementStatusReasonNotAvailable, unavailable(crd)
	}
	return v1alpha1.RequirementStatusReasonPresent, "CRD is served by the cluster"
}

func served(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version && v.Served
	})
}

// unavailable says why the cluster does not serve the CRD.
func unavailable(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, c := range crd.Status.Conditions {
		wanted := c.Type == apiextensionsv1.Established || c.Type == apiextensionsv1.NamesAccepted
		if wanted && c.Status == apiextensionsv1.ConditionFalse && c.Message != "" {
			return fmt.Sprintf("CRD is present but the cluster does not serve it: %s", c.Message)
		}
	}
	return "CRD is present but the cluster does not serve it yet"
}

// broughtByOlder lists the CSVs that brought the CRD, as its annotations tell, and that this CSV replaces: the CRD is
// then of an older version of the operator. A CRD that this CSV brought as well is up to date.
func broughtByOlder(csv *v1alpha1.ClusterServiceVersion, crd *apiextensionsv1.CustomResourceDefinition, chain *chain) []string {
	var older []string
	for name, value := range crd.Annotations {
		if !strings.HasPrefix(name, v1alpha1.InstalledAlongsideAnnotationPrefix) {
			continue
		}
		namespace, by, _ := strings.Cut(value, "/")
		if namespace != csv.Namespace {
			continue
		}
		if by == csv.Name {
			return nil
		}
		if _, exists := chain.byName[by]; exists && chain.replaces(csv.Name, by) {
			older = append(older, by)
		}
	}
	slices.Sort(older)
	return older
}
