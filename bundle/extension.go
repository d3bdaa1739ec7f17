package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// maxPodAnnotation is the length in bytes of the longest annotation of a ClusterServiceVersion that the pods of an extension get. Longer ones
// are documents for consoles, such as alm-examples; in pods they would cost memory in every node and client, and could exceed the 256 KiB
// that an object may have of annotations.
const maxPodAnnotation = 1024

// Extension renders what runs an operator without a ClusterServiceVersion in the cluster, as ClusterExtensions do: objects have names that
// stay, and no owner but the revision that holds them.
type Extension struct {
	// CSV is the ClusterServiceVersion, in the namespace of the installation.
	CSV *v1alpha1.ClusterServiceVersion
	// Targets are the namespaces that the operator watches; "" alone means all.
	Targets []string
	// Config is merged into the Deployments; nil changes nothing.
	Config *v1alpha1.SubscriptionConfig
	// Certs are the serving certificates by Deployment name, as in DeploymentOptions.
	Certs map[string]ServingCert
	// OperatorCondition is the name of the operator's OperatorCondition, empty without one.
	OperatorCondition string
}

// AllNamespaces reports whether the operator watches all namespaces.
func (d *Extension) AllNamespaces() bool {
	return slices.Equal(d.Targets, []string{metav1.NamespaceAll})
}

// ServiceAccounts are those that the permissions name, in that order.
func (d *Extension) ServiceAccounts() []*corev1.ServiceAccount {
	var out []*corev1.ServiceAccount
	done := map[string]bool{"": true, DefaultServiceAccount: true}
	strategy := d.CSV.Spec.InstallStrategy.StrategySpec
	for _, p := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		if name := p.ServiceAccountName; !done[name] {
			done[name] = true
			out = append(out, &corev1.ServiceAccount{TypeMeta: accountType, ObjectMeta: d.meta(name, false)})
		}
	}
	return out
}

// Roles are the roles and bindings of the permissions: Roles in every target namespace, then ClusterRoles for the cluster permissions. An
// operator that watches all namespaces has ClusterRoles alone, the last of them for its other permissions.
func (d *Extension) Roles() ([]runtime.Object, error) {
	var all []grant
	strategy := d.CSV.Spec.InstallStrategy.StrategySpec
	cluster := slices.Clone(strategy.ClusterPermissions)
	if d.AllNamespaces() {
		for _, p := range strategy.Permissions {
			p.Rules = liftedRules(p.Rules)
			cluster = append(cluster, p)
		}
	} else {
		for _, namespace := range d.Targets {
			more, err := grants(d.CSV, d, strategy.Permissions, namespace, false)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	more, err := grants(d.CSV, d, cluster, "", true)
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, g := range append(all, more...) {
		out = append(out, g.role, g.binding)
	}
	return out, nil
}

// Deployments are those of the install strategy, configured and with their certificates.
func (d *Extension) Deployments() ([]*appsv1.Deployment, error) {
	return deployments(d.CSV, d, d.OperatorCondition, DeploymentOptions{Config: d.Config, Certs: d.Certs})
}

// Services stand in front of the ServingDeployments.
func (d *Extension) Services() ([]*corev1.Service, error) { return services(d.CSV, d) }

// ValidatingWebhooks are the configurations of the validating webhooks, for the target namespaces.
func (d *Extension) ValidatingWebhooks() ([]*admissionv1.ValidatingWebhookConfiguration, error) {
	return validatingWebhooks(d.CSV, d, d.webhookOptions())
}

// MutatingWebhooks are the configurations of the mutating webhooks, for the target namespaces.
func (d *Extension) MutatingWebhooks() ([]*admissionv1.MutatingWebhookConfiguration, error) {
	return mutatingWebhooks(d.CSV, d, d.webhookOptions())
}

// APIServices register the owned aggregated APIs, each group and version once.
func (d *Extension) APIServices() []*apiregistrationv1.APIService {
	return apiServices(d.CSV, d, d.Certs)
}

// Delegations let the pods of the Deployments that serve aggregated APIs ask the cluster who calls them, and what callers may do.
func (d *Extension) Delegations() []runtime.Object {
	var out []runtime.Object
	done := map[string]bool{}
	for _, description := range d.CSV.Spec.APIServiceDefinitions.Owned {
		if deployment := description.DeploymentName; !done[deployment] {
			done[deployment] = true
			delegates, authenticates := delegation(d.CSV, d, deployment)
			out = append(out, delegates, authenticates)
		}
	}
	return out
}

func (d *Extension) webhookOptions() WebhookOptions {
	o := WebhookOptions{Certs: d.Certs}
	if !d.AllNamespaces() {
		o.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: d.Targets,
		}}}
	}
	return o
}

func (d *Extension) meta(name string, cluster bool) metav1.ObjectMeta {
	if cluster {
		return metav1.ObjectMeta{Name: name}
	}
	return metav1.ObjectMeta{Name: name, Namespace: d.CSV.Namespace}
}

// podAnnotations are those of the ClusterServiceVersion, of the template, and where the operator is and what it watches. Later ones win.
func (d *Extension) podAnnotations(template *corev1.PodTemplateSpec) map[string]string {
	out := map[string]string{}
	for key, value := range d.CSV.Annotations {
		if len(value) <= maxPodAnnotation || readsAnnotation(&template.Spec, key) {
			out[key] = value
		}
	}
	out = union(out, template.Annotations)
	out[v1alpha1.TargetNamespacesAnnotation] = strings.Join(d.Targets, ",")
	out[v1alpha1.OperatorNamespaceAnnotation] = d.CSV.Namespace
	return out
}

// readsAnnotation reports whether a pod reads one of its annotations, in an environment variable or a file.
func readsAnnotation(pod *corev1.PodSpec, key string) bool {
	var read []*corev1.ObjectFieldSelector
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, variable := range container.Env {
			if variable.ValueFrom != nil {
				read = append(read, variable.ValueFrom.FieldRef)
			}
		}
	}
	for _, volume := range pod.Volumes {
		var files []corev1.DownwardAPIVolumeFile
		if volume.DownwardAPI != nil {
			files = volume.DownwardAPI.Items
		}
		if volume.Projected != nil {
			for _, source := range volume.Projected.Sources {
				if source.DownwardAPI != nil {
					files = slices.Concat(files, source.DownwardAPI.Items)
				}
			}
		}
		for _, file := range files {
			read = append(read, file.FieldRef)
		}
	}
	return slices.ContainsFunc(read, func(field *corev1.ObjectFieldSelector) bool {
		return field != nil && (field.FieldPath == "metadata.annotations" || field.FieldPath == "metadata.annotations['"+key+"']")
	})
}

// roleName is the same for a namespace and for the cluster: clusters that were installed by the published implementation have these names. Of
// a name that would be exactly one character too long that implementation cuts nothing; here it has maxNameLength characters like all others.
func (d *Extension) roleName(p v1alpha1.StrategyDeploymentPermissions, _ bool) (string, error) {
	account := cmp.Or(p.ServiceAccountName, DefaultServiceAccount)
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(p); err != nil {
		return "", fmt.Errorf("name the role of service account %s: %w", account, err)
	}
	sum := sha256.Sum224(text.Bytes())
	return joinName(d.CSV.Name+"-"+account, new(big.Int).SetBytes(sum[:]).Text(36)), nil
}

func (d *Extension) roleMeta(name, namespace string, _ bool, _ string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

// webhook gives the configuration of a webhook and the webhook in it the name that stays, so that a new version takes the configuration over.
func (d *Extension) webhook(index int) (metav1.ObjectMeta, string, error) {
	name := ExtensionWebhookName(d.CSV.Spec.WebhookDefinitions[index])
	return metav1.ObjectMeta{Name: name}, name, nil
}

// ExtensionWebhookName is the name of the configuration that an Extension has for a webhook, and of the webhook in it.
func ExtensionWebhookName(description v1alpha1.WebhookDescription) string {
	return strings.TrimSuffix(description.GenerateName, "-")
}
