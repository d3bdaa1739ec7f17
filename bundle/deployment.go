package bundle

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// ConditionNameEnv tells an operator which OperatorCondition is its own.
const ConditionNameEnv = "OPERATOR_CONDITION_NAME"

// DeploymentOptions are what the Deployments of a ClusterServiceVersion depend on besides itself.
type DeploymentOptions struct {
	// Config is the configuration of the Subscription that the ClusterServiceVersion was installed by, if any.
	Config *v1alpha1.SubscriptionConfig
	// ProxyEnv are the proxy variables of the cluster. They reach the containers unless Config sets one of them.
	ProxyEnv []corev1.EnvVar
	// Certs are the serving certificates, by Deployment name, that are mounted into the pods. See ServingDeployments.
	Certs map[string]ServingCert
}

// Deployments returns the Deployments of the install strategy as they are to be in the cluster, in the order of the
// strategy. Each carries the hash of its final spec in the label olm.deployment-spec-hash.
func Deployments(csv *v1alpha1.ClusterServiceVersion, o DeploymentOptions) ([]*appsv1.Deployment, error) {
	install := csv.Spec.InstallStrategy
	if install.StrategyName != v1alpha1.InstallStrategyNameDeployment {
		return nil, fmt.Errorf("read install strategy of ClusterServiceVersion %s: %q is not known; the only one is %q",
			csv.Name, install.StrategyName, v1alpha1.InstallStrategyNameDeployment)
	}
	out := make([]*appsv1.Deployment, 0, len(install.StrategySpec.DeploymentSpecs))
	for i := range install.StrategySpec.DeploymentSpecs {
		deployment, err := renderDeployment(csv, &install.StrategySpec.DeploymentSpecs[i], o)
		if err != nil {
			return nil, fmt.Errorf("render Deployment %s of ClusterServiceVersion %s: %w",
				install.StrategySpec.DeploymentSpecs[i].Name, csv.Name, err)
		}
		out = append(out, deployment)
	}
	return out, nil
}

func renderDeployment(csv *v1alpha1.ClusterServiceVersion, in *v1alpha1.StrategyDeploymentSpec, o DeploymentOptions) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: managedMeta(csv, in.Name),
		Spec:       *in.Spec.DeepCopy(),
	}
	deployment.Labels = union(in.Label, deployment.Labels)
	template := &deployment.Spec.Template
	template.Annotations = union(template.Annotations, csv.Annotations)

	config, err := configFor(o.Config, in)
	if err != nil {
		return nil, err
	}
	applyConfig(deployment, config, o.ProxyEnv)
	if cert, ok := o.Certs[in.Name]; ok {
		mountCert(template, cert.secretName(in.Name), cert.CA)
	}
	condition := []corev1.EnvVar{{Name: ConditionNameEnv, Value: csv.Name}}
	eachContainer(template, func(c *corev1.Container) { c.Env = mergeEnv(c.Env, condition) })
	UniqueLists(&template.Spec)
	deployment.Spec.RevisionHistoryLimit = new(int32)
	*deployment.Spec.RevisionHistoryLimit = 1

	hash, err := Hash62(deployment.Spec)
	if err != nil {
		return nil, err
	}
	deployment.Labels[v1alpha1.DeploymentSpecHashLabel] = hash
	return deployment, nil
}

// eachContainer calls f on the regular containers: init containers are left as their author wrote them.
func eachContainer(template *corev1.PodTemplateSpec, f func(*corev1.Container)) {
	for i := range template.Spec.Containers {
		f(&template.Spec.Containers[i])
	}
}
