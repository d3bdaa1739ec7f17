package clusterserviceversion

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
)

// Names of the cache indexes. Copies of ClusterServiceVersions are in none of them.
const (
	indexByReplaces = "csv.replaces"   // ClusterServiceVersions by what they replace
	indexByPackage  = "csv.package"    // ClusterServiceVersions by the package that they come from
	indexByAPI      = "csv.api"        // ClusterServiceVersions by the APIs that they own or need: see crdKey and the like
	indexByAccount  = "csv.account"    // ClusterServiceVersions by the service accounts of their permissions
	indexByDeploy   = "csv.deployment" // ClusterServiceVersions by the names of their Deployments
	indexByOwner    = "csv.owner"      // objects by the ClusterServiceVersion of their owner labels, namespace/name
	indexBySubject  = "csv.subject"    // bindings by subject: see subjectKey
	indexByRole     = "csv.role"       // bindings by the role that they refer to: see roleKey
	indexByTarget   = "csv.target"     // OperatorGroups by target namespace
	indexByListed   = "csv.listed"     // OperatorGroups by the APIs that they list
	indexByProvided = "csv.provided"   // ClusterServiceVersions by the APIs that they own, as OperatorGroups list them
)

// What the keys of indexByAPI begin with: that of a CRD or APIService has its name after it, that of an API of any kind its group.
const (
	crdKey        = "crd/"
	apiServiceKey = "apiservice/"
	groupKey      = "group/"
)

// index is one cache index.
type index struct {
	object client.Object
	name   string
	values client.IndexerFunc
}

func indexes() []index {
	all := []index{
		{&v1alpha1.ClusterServiceVersion{}, indexByReplaces, ofCSV(func(csv *v1alpha1.ClusterServiceVersion) []string {
			return []string{csv.Spec.Replaces}
		})},
		{&v1alpha1.ClusterServiceVersion{}, indexByPackage, ofCSV(func(csv *v1alpha1.ClusterServiceVersion) []string {
			return []string{bundle.PackageOf(csv)}
		})},
		{&v1alpha1.ClusterServiceVersion{}, indexByAPI, ofCSV(apisOf)},
		{&v1alpha1.ClusterServiceVersion{}, indexByAccount, ofCSV(func(csv *v1alpha1.ClusterServiceVersion) []string {
			return accountNames(csv.Spec.InstallStrategy.StrategySpec)
		})},
		{&v1alpha1.ClusterServiceVersion{}, indexByDeploy, ofCSV(func(csv *v1alpha1.ClusterServiceVersion) []string {
			var names []string
			for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
				names = append(names, d.Name)
			}
			return names
		})},
		{&rbacv1.RoleBinding{}, indexBySubject, func(o client.Object) []string { return subjectKeys(o.(*rbacv1.RoleBinding).Subjects) }},
		{&rbacv1.ClusterRoleBinding{}, indexBySubject, func(o client.Object) []string { return subjectKeys(o.(*rbacv1.ClusterRoleBinding).Subjects) }},
		{&rbacv1.RoleBinding{}, indexByRole, func(o client.Object) []string {
			return []string{roleKey(o.GetNamespace(), o.(*rbacv1.RoleBinding).RoleRef)}
		}},
		{&rbacv1.ClusterRoleBinding{}, indexByRole, func(o client.Object) []string {
			return []string{roleKey("", o.(*rbacv1.ClusterRoleBinding).RoleRef)}
		}},
		{&v1alpha1.ClusterServiceVersion{}, indexByProvided, ofCSV(func(csv *v1alpha1.ClusterServiceVersion) []string {
			return sets.List(tenancy.ProvidedBy(csv))
		})},
		{&v1.OperatorGroup{}, indexByListed, func(o client.Object) []string {
			return sets.List(tenancy.AnnotatedOn(o.(*v1.OperatorGroup)))
		}},
		{&v1.OperatorGroup{}, indexByTarget, func(o client.Object) []string {
			return slices.Compact(slices.Sorted(slices.Values(o.(*v1.OperatorGroup).Status.Namespaces)))
		}},
	}
	for _, object := range []client.Object{
		&appsv1.Deployment{},
		&rbacv1.Role{}, &rbacv1.RoleBinding{}, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{},
		&apiregistrationv1.APIService{},
		&admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{},
	} {
		all = append(all, index{object, indexByOwner, func(o client.Object) []string {
			if owner, ok := ownerOf(o); ok {
				return []string{owner.String()}
			}
			return nil
		}})
	}
	return all
}

// ofCSV leaves copies out.
func ofCSV(values func(*v1alpha1.ClusterServiceVersion) []string) client.IndexerFunc {
	return func(o client.Object) []string {
		csv := o.(*v1alpha1.ClusterServiceVersion)
		if csv.IsCopied() {
			return nil
		}
		return slices.DeleteFunc(values(csv), func(v string) bool { return v == "" })
	}
}

// apisOf are the keys of everything about APIs whose change concerns the CSV.
func apisOf(csv *v1alpha1.ClusterServiceVersion) []string {
	var keys []string
	for _, crd := range csv.AllCRDs() {
		keys = append(keys, crdKey+crd.Name)
	}
	for _, api := range slices.Concat(csv.Spec.APIServiceDefinitions.Owned, csv.Spec.APIServiceDefinitions.Required) {
		keys = append(keys, apiServiceKey+api.APIServiceName())
	}
	for _, api := range csv.Spec.NativeAPIs {
		keys = append(keys, groupKey+api.Group)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func subjectKeys(subjects []rbacv1.Subject) []string {
	var keys []string
	for _, subject := range subjects {
		keys = append(keys, subjectKey(subject))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// subjectKey distinguishes subjects; only service accounts have a namespace.
func subjectKey(s rbacv1.Subject) string {
	if s.Kind != rbacv1.ServiceAccountKind {
		return s.Kind + "/" + s.Name
	}
	return s.Kind + "/" + s.Namespace + "/" + s.Name
}

// roleKey distinguishes roles; a ClusterRole has no namespace, from wherever a binding refers to it.
func roleKey(namespace string, ref rbacv1.RoleRef) string {
	if ref.Kind == "ClusterRole" {
		namespace = ""
	}
	return ref.Kind + "/" + namespace + "/" + ref.Name
}
