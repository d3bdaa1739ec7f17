package bundle

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// ConditionNameEnv is the environment variable that holds the name of an operator's OperatorCondition.
const ConditionNameEnv = "OPERATOR_CONDITION_NAME"

// revisionHistoryLimit is that of all Deployments: another version of the operator is the way back.
const revisionHistoryLimit int32 = 1

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
	out, err := deployments(csv, owned{csv}, csv.Name, o)
	for _, deployment := range out {
		hash, err := Hash62(deployment.Spec)
		if err != nil {
			return nil, fmt.Errorf("render Deployment %s of ClusterServiceVersion %s: %w", deployment.Name, csv.Name, err)
		}
		deployment.Labels[v1alpha1.DeploymentSpecHashLabel] = hash
	}
	return out, err
}

// deployments renders the Deployments of the install strategy, configured and with their certificates. The condition is the name of the
// OperatorCondition, empty without one.
func deployments(csv *v1alpha1.ClusterServiceVersion, d dialect, condition string, o DeploymentOptions) ([]*appsv1.Deployment, error) {
	specs := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	out := make([]*appsv1.Deployment, 0, len(specs))
	for i := range specs {
		in := &specs[i]
		deployment := &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
			ObjectMeta: d.meta(in.Name, false),
			Spec:       *in.Spec.DeepCopy(),
		}
		deployment.Labels = union(in.Label, deployment.Labels)
		template := &deployment.Spec.Template
		template.Annotations = d.podAnnotations(template)
		config, err := configFor(o.Config, in)
		if err != nil {
			return nil, fmt.Errorf("render Deployment %s of ClusterServiceVersion %s: %w", in.Name, csv.Name, err)
		}
		applyConfig(deployment, config, o.ProxyEnv)
		if cert, ok := o.Certs[in.Name]; ok {
			d.mountCert(template, cert, in.Name)
		}
		pod := &template.Spec
		for i := range pod.Containers {
			if c := &pod.Containers[i]; condition != "" {
				c.Env = mergeEnv(c.Env, []corev1.EnvVar{{Name: ConditionNameEnv, Value: condition}})
			}
		}
		// Leave of several variables, ports, volumes or pull secrets with the same key the last one, in its place. When an object is
		// created, the API server takes such variables and ports with a warning, and the last variable wins; when it is applied, it
		// refuses them.
		pod.Volumes = lastOfEach(pod.Volumes, func(v corev1.Volume) string { return v.Name })
		pod.ImagePullSecrets = lastOfEach(pod.ImagePullSecrets, func(r corev1.LocalObjectReference) string { return r.Name })
		for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
			for i := range containers {
				c := &containers[i]
				c.Env = lastOfEach(c.Env, func(e corev1.EnvVar) string { return e.Name })
				c.Ports = lastOfEach(c.Ports, func(p corev1.ContainerPort) string {
					return fmt.Sprint(p.ContainerPort, "/", cmp.Or(p.Protocol, corev1.ProtocolTCP))
				})
			}
		}
		deployment.Spec.RevisionHistoryLimit = new(int32)
		*deployment.Spec.RevisionHistoryLimit = revisionHistoryLimit
		out = append(out, deployment)
	}
	return out, nil
}

// lastOfEach leaves of entries with the same key the last one. A list without such entries is returned as it is.
func lastOfEach[T any](list []T, key func(T) string) []T {
	last := make(map[string]int, len(list))
	for i, item := range list {
		last[key(item)] = i
	}
	if len(last) == len(list) {
		return list
	}
	out := make([]T, 0, len(last))
	for i, item := range list {
		if last[key(item)] == i {
			out = append(out, item)
		}
	}
	return out
}
