package bundle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// defaultServingPort is the port of a webhook or aggregated API that names none.
const defaultServingPort int32 = 443

// ServingDeployments are the names of the Deployments of the install strategy that serve a webhook or an owned
// aggregated API, in the order of the strategy: each needs a Service and a certificate.
func ServingDeployments(csv *v1alpha1.ClusterServiceVersion) []string {
	var out []string
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if len(servingPorts(csv, d.Name)) > 0 {
			out = append(out, d.Name)
		}
	}
	return out
}

// Services returns the Services in front of the ServingDeployments.
func Services(csv *v1alpha1.ClusterServiceVersion) ([]*corev1.Service, error) {
	return services(csv, owned{csv})
}

func services(csv *v1alpha1.ClusterServiceVersion, dialect dialect) ([]*corev1.Service, error) {
	var out []*corev1.Service
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		ports := servingPorts(csv, d.Name)
		if len(ports) == 0 {
			continue
		}
		if d.Spec.Selector == nil || len(d.Spec.Selector.MatchLabels) == 0 {
			return nil, fmt.Errorf("render Service %s of ClusterServiceVersion %s: the selector of Deployment %s has no matchLabels; "+
				"a Service selects pods by these", ServingServiceName(d.Name), csv.Name, d.Name)
		}
		out = append(out, &corev1.Service{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: dialect.meta(ServingServiceName(d.Name), false),
			Spec:       corev1.ServiceSpec{Selector: union(d.Spec.Selector.MatchLabels, nil), Ports: ports},
		})
	}
	return out, nil
}

// servingPorts are the distinct ports that the webhooks and aggregated APIs of a Deployment name, in ascending order.
// Where two of them disagree about the pods' port behind one port of the Service, the first counts.
func servingPorts(csv *v1alpha1.ClusterServiceVersion, deployment string) []corev1.ServicePort {
	var ports []corev1.ServicePort
	add := func(port int32, target *intstr.IntOrString) {
		port = cmp.Or(port, defaultServingPort)
		if slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Port == port }) {
			return
		}
		out := corev1.ServicePort{Name: strconv.Itoa(int(port)), Port: port, TargetPort: intstr.FromInt32(port)}
		if target != nil {
			out.TargetPort = *target
		}
		ports = append(ports, out)
	}
	for _, description := range csv.Spec.WebhookDefinitions {
		if description.DeploymentName == deployment {
			add(description.ContainerPort, description.TargetPort)
		}
	}
	for _, description := range csv.Spec.APIServiceDefinitions.Owned {
		if description.DeploymentName == deployment {
			add(description.ContainerPort, nil)
		}
	}
	slices.SortFunc(ports, func(a, b corev1.ServicePort) int { return cmp.Compare(a.Port, b.Port) })
	return ports
}
