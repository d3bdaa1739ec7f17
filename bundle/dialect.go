package bundle

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// dialect is how one of the two APIs names and marks the objects that run an operator. Everything else about them is the same for both.
type dialect interface {
	// meta is the metadata of an object that a controller applies: in the namespace of the operator, or for the cluster.
	meta(name string, cluster bool) metav1.ObjectMeta
	// podAnnotations are the annotations of the pods of a Deployment.
	podAnnotations(template *corev1.PodTemplateSpec) map[string]string
	// mountCert mounts a serving certificate into pods.
	mountCert(template *corev1.PodTemplateSpec, cert ServingCert, deployment string)
	// roleName names the role and the binding of a permission.
	roleName(p v1alpha1.StrategyDeploymentPermissions, cluster bool) (string, error)
	// roleMeta is the metadata of a role or a binding with this hash of its content: for the cluster, or in a namespace.
	roleMeta(name, namespace string, cluster bool, hash string) metav1.ObjectMeta
	// webhook is the metadata of the configuration for a webhook description, and the name of the webhook in it.
	webhook(index int) (metav1.ObjectMeta, string, error)
}

// owned is the dialect of objects that belong to a ClusterServiceVersion in the cluster.
type owned struct {
	csv *v1alpha1.ClusterServiceVersion
}

// OwnerLabels are the labels that tie an object to a ClusterServiceVersion where an owner reference cannot, or not
// alone: across namespaces and on cluster-scoped objects.
func OwnerLabels(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	return map[string]string{
		v1alpha1.OwnerLabel:          csv.Name,
		v1alpha1.OwnerNamespaceLabel: csv.Namespace,
		v1alpha1.OwnerKindLabel:      v1alpha1.ClusterServiceVersionKind,
	}
}

// OwnerReference makes the garbage collector remove an object after its ClusterServiceVersion. Its UID is empty as long
// as the ClusterServiceVersion has not been created.
func OwnerReference(csv *v1alpha1.ClusterServiceVersion) metav1.OwnerReference {
	no := false
	return metav1.OwnerReference{
		APIVersion:         v1alpha1.GroupVersion.String(),
		Kind:               v1alpha1.ClusterServiceVersionKind,
		Name:               csv.Name,
		UID:                csv.UID,
		Controller:         &no,
		BlockOwnerDeletion: &no,
	}
}

func (d owned) meta(name string, cluster bool) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Labels: union(OwnerLabels(d.csv), map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})}
	if !cluster {
		meta.Namespace, meta.OwnerReferences = d.csv.Namespace, []metav1.OwnerReference{OwnerReference(d.csv)}
	}
	return meta
}

func (d owned) podAnnotations(template *corev1.PodTemplateSpec) map[string]string {
	return union(template.Annotations, d.csv.Annotations)
}

// roleName depends on the namespace as well where the role is for the cluster, because the operator may run in several.
func (d owned) roleName(p v1alpha1.StrategyDeploymentPermissions, cluster bool) (string, error) {
	base, unique := d.csv.Name+"-"+p.ServiceAccountName, []any{d.csv.Name, p}
	if cluster {
		base, unique = d.csv.Name, []any{d.csv.Name, d.csv.Namespace, p}
	}
	hash, err := Hash62(unique)
	return joinName(base, hash), err
}

// roleMeta is without the mark of what a controller applies: an InstallPlan creates roles.
func (d owned) roleMeta(name, _ string, cluster bool, hash string) metav1.ObjectMeta {
	meta := d.meta(name, cluster)
	delete(meta.Labels, v1alpha1.ManagedLabel)
	meta.Labels[v1alpha1.PermissionsHashLabel] = hash
	return meta
}

// webhook names a configuration by what the name has room for of the description's, and by a hash of the place of the description among its
// namesakes: those of the same type whose configurations have names that begin alike, usually none. A configuration that exists for the
// description is found by its labels, whatever its name is.
func (d owned) webhook(index int) (metav1.ObjectMeta, string, error) {
	description := d.csv.Spec.WebhookDefinitions[index]
	hash, err := Hash62(description)
	if err != nil {
		return metav1.ObjectMeta{}, "", err
	}
	room := validation.DNS1123SubdomainMaxLength - len("-") - len(fnvHex(""))
	count, prefix := 0, cut(description.GenerateName, room)
	for _, earlier := range d.csv.Spec.WebhookDefinitions[:index] {
		if earlier.Type == description.Type && cut(earlier.GenerateName, room) == prefix {
			count++
		}
	}
	name := prefix + "-" + fnvHex(fmt.Sprintf("%s/%s/%d", d.csv.Namespace, d.csv.Name, count))
	return metav1.ObjectMeta{Name: name, Labels: union(OwnerLabels(d.csv), map[string]string{
		v1alpha1.WebhookGenerateNameLabel: cut(description.GenerateName, maxNameLength),
		v1alpha1.WebhookHashLabel:         hash,
		v1alpha1.ManagedLabel:             v1alpha1.ManagedLabelValue,
	})}, description.GenerateName, nil
}

// union is a new map with the entries of both; those of over win.
func union(base, over map[string]string) map[string]string {
	out := make(map[string]string, len(base)+len(over))
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}

// cut shortens a name to so many bytes, so that what is left ends as a name and the value of a label may. The generateName of a webhook
// may be four times as long as a label.
func cut(name string, length int) string {
	if len(name) <= length {
		return name
	}
	return strings.TrimRight(name[:length], "-._")
}
