package clusterserviceversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// evidence is what the cluster has of that which a CSV requires.
type evidence struct {
	// version is that of the cluster, and versionErr why it is not known.
	version     string
	versionErr  error
	crds        map[string]*apiextensionsv1.CustomResourceDefinition
	providers   map[string][]v1alpha1.ClusterServiceVersion // of the CRDs that lack a version
	apiServices map[string]*apiregistrationv1.APIService
	served      map[schema.GroupVersionKind]bool
	accounts    map[string]accountEvidence
}

// accountEvidence is a service account and what it may do.
type accountEvidence struct {
	account             *metav1.PartialObjectMetadata
	cluster, namespaced []rbacv1.PolicyRule
}

// crds reads the CRDs that the CSV owns or needs.
func (o *observer) crds(ctx context.Context) (map[string]*apiextensionsv1.CustomResourceDefinition, error) {
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, description := range o.csv.AllCRDs() {
		crd, err := o.crd(ctx, description.Name)
		if err != nil {
			return nil, err
		}
		out[description.Name] = crd
	}
	return out, nil
}

// crd reads a CRD, without its schemas; nil when it does not exist.
func (o *observer) crd(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return read[*apiextensionsv1.CustomResourceDefinition](ctx, o.cache, key("", name), client.UnsafeDisableDeepCopy)
}

// apiService reads an APIService; nil when it does not exist.
func (o *observer) apiService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	return read[*apiregistrationv1.APIService](ctx, o.cache, key("", name))
}

// evidence reads what the CSV requires.
func (o *observer) evidence(ctx context.Context) (*evidence, error) {
	e := &evidence{providers: map[string][]v1alpha1.ClusterServiceVersion{}, apiServices: map[string]*apiregistrationv1.APIService{},
		served: map[schema.GroupVersionKind]bool{}, accounts: map[string]accountEvidence{}}
	if o.csv.Spec.MinKubeVersion != "" {
		if server, err := o.server.ServerVersion(); err != nil {
			e.versionErr = err
		} else {
			e.version = server.GitVersion
		}
	}
	var err error
	if e.crds, err = o.crds(ctx); err != nil {
		return nil, err
	}
	for _, description := range o.csv.AllCRDs() {
		if crd := e.crds[description.Name]; crd != nil && !served(crd, description.Version) && o.csv.OwnsCRD(crd.Name) {
			if e.providers[crd.Name], err = o.providers(ctx, crd.Name); err != nil {
				return nil, err
			}
		}
	}
	kinds := make([]schema.GroupVersionKind, 0, len(o.csv.Spec.NativeAPIs))
	for _, api := range o.csv.Spec.NativeAPIs {
		kinds = append(kinds, schema.GroupVersionKind(api))
	}
	for _, description := range o.csv.RequiredAPIServices() {
		live, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return nil, err
		}
		if e.apiServices[description.APIServiceName()] = live; live != nil && available(live) {
			kinds = append(kinds, apiKind(description))
		}
	}
	for _, kind := range kinds {
		if e.served[kind], err = o.serves(kind); err != nil {
			return nil, err
		}
	}
	for _, name := range accountNames(o.csv.Spec.InstallStrategy.StrategySpec) {
		var account accountEvidence
		if err := account.read(ctx, o, name); err != nil {
			return nil, err
		}
		e.accounts[name] = account
	}
	return e, nil
}

// read reads a service account of the namespace and, where it exists, the rules that it holds by way of all bindings.
func (e *accountEvidence) read(ctx context.Context, o *observer, name string) (err error) {
	e.account, err = o.metadata(ctx, corev1.SchemeGroupVersion.WithKind("ServiceAccount"), key(o.csv.Namespace, name))
	if err != nil || e.account == nil {
		return err
	}
	for _, subject := range []rbacv1.Subject{ // the service account is known by itself, by its user name, and by its groups
		{Kind: rbacv1.ServiceAccountKind, Namespace: o.csv.Namespace, Name: name},
		{Kind: rbacv1.UserKind, Name: "system:serviceaccount:" + o.csv.Namespace + ":" + name},
		{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + o.csv.Namespace},
		{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"},
		{Kind: rbacv1.GroupKind, Name: "system:authenticated"},
	} {
		by, of := client.MatchingFields{indexBySubject: subjectKey(subject)}, fmt.Sprintf(" of %s %s", subject.Kind, subject.Name)
		var cluster rbacv1.ClusterRoleBindingList
		if err := list(ctx, o.cache, &cluster, "the ClusterRoleBindings"+of, by); err != nil {
			return err
		}
		for i := range cluster.Items {
			if err := e.add(ctx, o, &e.cluster, "", &cluster.Items[i], cluster.Items[i].RoleRef); err != nil {
				return err
			}
		}
		var namespaced rbacv1.RoleBindingList
		if err := list(ctx, o.cache, &namespaced, "the RoleBindings"+of+" in namespace "+o.csv.Namespace, by, client.InNamespace(o.csv.Namespace)); err != nil {
			return err
		}
		for i := range namespaced.Items {
			if err := e.add(ctx, o, &e.namespaced, o.csv.Namespace, &namespaced.Items[i], namespaced.Items[i].RoleRef); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds the rules of the role that a binding refers to: none where the role does not exist, or one of both belongs to another CSV.
func (e *accountEvidence) add(ctx context.Context, o *observer, rules *[]rbacv1.PolicyRule, namespace string, binding metav1.Object, ref rbacv1.RoleRef) error {
	if ownedByOthers(binding, o.csv) {
		return nil
	}
	if ref.Kind == "Role" {
		role, err := read[*rbacv1.Role](ctx, o.cache, key(namespace, ref.Name), client.UnsafeDisableDeepCopy)
		if err == nil && role != nil && !ownedByOthers(role, o.csv) {
			*rules = append(*rules, role.Rules...)
		}
		return err
	}
	role, err := read[*rbacv1.ClusterRole](ctx, o.cache, key("", ref.Name), client.UnsafeDisableDeepCopy)
	if err == nil && role != nil && !ownedByOthers(role, o.csv) {
		*rules = append(*rules, role.Rules...)
	}
	return err
}

func served(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version && v.Served
	})
}

// available reports whether the cluster reaches the server behind an APIService.
func available(s *apiregistrationv1.APIService) bool {
	for _, c := range s.Status.Conditions {
		if c.Type == apiregistrationv1.Available {
			return c.Status == apiregistrationv1.ConditionTrue
		}
	}
	return false
}

func apiKind(d v1alpha1.APIServiceDescription) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind}
}

// defaultAccount is meant where a permission names no service account.
const defaultAccount = "default"

// accountNames are the service accounts that the permissions are for, sorted.
func accountNames(strategy v1alpha1.StrategyDetailsDeployment) []string {
	var names []string
	for _, permission := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		names = append(names, cmp.Or(permission.ServiceAccountName, defaultAccount))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ownedByOthers reports whether an object belongs to ClusterServiceVersions, but not to this one. An object that belongs to
// none can be used by all.
func ownedByOthers(object metav1.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	others := false
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if owner.Name == csv.Name && owner.UID == csv.UID {
			return false
		}
		others = true
	}
	return others
}
