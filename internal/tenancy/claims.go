package tenancy

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// Bringers returns the ClusterServiceVersions whose InstallPlans brought a CRD, as its annotations record, sorted. A ClusterServiceVersion may list
// any CRD as owned; only users who may write CRDs, and the manager, record who brought one.
func Bringers(crd metav1.Object) []types.NamespacedName {
	var all []types.NamespacedName
	for key, value := range crd.GetAnnotations() {
		namespace, name, ok := strings.Cut(value, "/")
		if ok && strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
			all = append(all, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}

// BroughtFrom reports whether an InstallPlan of a namespace brought a CRD.
func BroughtFrom(crd metav1.Object, namespace string) bool {
	return slices.ContainsFunc(Bringers(crd), func(by types.NamespacedName) bool { return by.Namespace == namespace })
}

// MayAdopt reports whether a CRD that no InstallPlan brought may become that of an operator of a namespace, because someone who may write CRDs set
// the annotation AdoptableByAnnotation.
func MayAdopt(crd metav1.Object, namespace string) bool {
	for name := range strings.SplitSeq(crd.GetAnnotations()[v1alpha1.AdoptableByAnnotation], ",") {
		if name = strings.TrimSpace(name); name == "*" || name != "" && name == namespace {
			return true
		}
	}
	return false
}

// Brought reports whether an InstallPlan brought a CustomResourceDefinition for the ClusterServiceVersion of this name. A ClusterServiceVersion may
// list any definition as owned; only writers of definitions can write the annotations that are read here. A definition that was there before the plan
// was not brought by it. Of those that earlier versions of the manager wrote, which note no plan, that is not known.
func Brought(crd metav1.Object, namespace, name string) bool {
	annotations := crd.GetAnnotations()
	if name == "" || annotations[bundle.InstalledAlongsideKey(namespace, name)] != namespace+"/"+name {
		return false
	}
	return strings.HasPrefix(annotations[v1alpha1.OriginAnnotation], v1alpha1.OriginInstallPlan) || annotations[bundle.BroughtByKey(namespace, name)] == ""
}

// Origin returns the namespace whose InstallPlan created a CustomResourceDefinition; empty when no plan did. Earlier versions of the manager, and
// other implementations, recorded only who brought it: of several such namespaces the preferred one counts, then the first by name.
func Origin(crd metav1.Object, preferred string) string {
	annotations := crd.GetAnnotations()
	if namespace, ok := strings.CutPrefix(annotations[v1alpha1.OriginAnnotation], v1alpha1.OriginInstallPlan+"/"); ok {
		return namespace
	}
	first := ""
	for _, by := range Bringers(crd) {
		switch {
		case annotations[bundle.BroughtByKey(by.Namespace, by.Name)] != "":
		case by.Namespace == preferred:
			return preferred
		default:
			first = cmp.Or(first, by.Namespace)
		}
	}
	return first
}

// HasRun reports whether an operator runs, or has run as far as its status remembers.
func HasRun(csv *v1alpha1.ClusterServiceVersion) bool {
	return csv.Status.Phase == v1alpha1.CSVPhaseSucceeded || slices.ContainsFunc(csv.Status.Conditions, func(c v1alpha1.ClusterServiceVersionCondition) bool {
		return c.Phase == v1alpha1.CSVPhaseSucceeded
	})
}

// Standing is what is known of an operator that owns definitions.
type Standing struct {
	Namespace, Name string
	// HasRun is as the function of that name reports it.
	HasRun bool
	// Confined is set in a namespace whose OperatorGroup has a service account.
	Confined bool
}

// Counts reports whether an operator that owns a CustomResourceDefinition has a say in what becomes of it. Where InstallPlans brought the definition,
// that is an operator which they brought it for, or one that runs or has run in a namespace of theirs, such as a successor made by hand. Where none
// did, it is any operator that runs or has run: nothing else is known. To run proves no right: a pod that only waits runs as well. So what a confined
// tenant can do alone is not enough: its operators count where a plan brought the definition, and one that only joined by an equal definition, which
// another namespace created, when it runs or has run.
func Counts(s Standing, crd metav1.Object) bool {
	if Brought(crd, s.Namespace, s.Name) && (s.HasRun || !s.Confined || Origin(crd, s.Namespace) == s.Namespace) {
		return true
	}
	return s.HasRun && (len(Bringers(crd)) == 0 && !s.Confined || BroughtFrom(crd, s.Namespace))
}

// Definitions read the definitions that operators own. They return nil where there is none.
type Definitions struct {
	CRD, APIService func(name string) (metav1.Object, error)
}

// ClaimedBy are the APIs that an operator has a claim to: those of the CustomResourceDefinitions in which it has a say, see Counts, and, when it runs
// or has run, those of the APIServices that are registered for an operator of its namespace. What does not exist is claimed by no one: its name alone
// would be.
func ClaimedBy(csv *v1alpha1.ClusterServiceVersion, confined bool, definitions Definitions) (APIs, error) {
	standing := Standing{Namespace: csv.Namespace, Name: csv.Name, HasRun: HasRun(csv), Confined: confined}
	claimed := &v1alpha1.ClusterServiceVersion{}
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		crd, err := definitions.CRD(d.Name)
		if err != nil {
			return nil, err
		}
		if crd != nil && Counts(standing, crd) {
			claimed.Spec.CustomResourceDefinitions.Owned = append(claimed.Spec.CustomResourceDefinitions.Owned, d)
		}
	}
	for _, d := range csv.OwnedAPIServices() {
		if !standing.HasRun {
			break
		}
		service, err := definitions.APIService(d.APIServiceName())
		if err != nil {
			return nil, err
		}
		if service == nil {
			continue
		}
		// Whether it was registered for an operator of the namespace. While an operator is replaced, the label names its successor first, and both have
		// the claim.
		labels := service.GetLabels()
		if labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && labels[v1alpha1.OwnerNamespaceLabel] == csv.Namespace && labels[v1alpha1.OwnerLabel] != "" {
			claimed.Spec.APIServiceDefinitions.Owned = append(claimed.Spec.APIServiceDefinitions.Owned, d)
		}
	}
	return ProvidedBy(claimed), nil
}
