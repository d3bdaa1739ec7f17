package grpccatalog

import (
	"fmt"
	"maps"
	"strconv"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// configure changes a pod as spec.grpcPodConfig and the annotation for the priority class ask for.
func configure(p *corev1.Pod, source *v1alpha1.CatalogSource, settings Settings) error {
	if config := source.Spec.GrpcPodConfig; config != nil {
		// Replace what is given; nothing is merged. A selector or a class that is given and empty takes the default away.
		spec := &p.Spec
		if config.NodeSelector != nil {
			spec.NodeSelector = maps.Clone(config.NodeSelector)
		}
		if config.PriorityClassName != nil {
			spec.PriorityClassName = *config.PriorityClassName
		}
		wanted := config.DeepCopy()
		if wanted.Tolerations != nil {
			spec.Tolerations = wanted.Tolerations
		}
		if wanted.Affinity != nil {
			spec.Affinity = wanted.Affinity
		}
		if target := config.MemoryTarget; target != nil {
			if target.Sign() <= 0 {
				return fmt.Errorf("spec.grpcPodConfig.memoryTarget is %s: write a positive quantity, such as 100Mi", target)
			}
			// Request what the server is to stay within. There is no limit: it would kill the server when it does not.
			server := &p.Spec.Containers[0]
			server.Resources.Requests[corev1.ResourceMemory] = target.DeepCopy()
			server.Env = append(server.Env, corev1.EnvVar{Name: memoryVariable, Value: goMemory(target.Value())})
		}
		if config.ExtractContent != nil {
			if err := extract(&p.Spec, source, settings); err != nil {
				return err
			}
		}
	}
	if class := source.Annotations[v1alpha1.PriorityClassAnnotation]; class != "" {
		p.Spec.PriorityClassName = class
	}
	return nil
}

// Settings are the same for all catalogs of a manager.
type Settings struct {
	// OpmImage serves content that was extracted from an image.
	OpmImage string
	// UtilImage holds /bin/cp and /bin/copy-content, with which content is extracted from an image.
	UtilImage string
	// RunAsUser is the user of restricted pods; 0 leaves it to the image.
	RunAsUser int64
	// GlobalNamespace holds the catalogs that pods of all namespaces may read.
	GlobalNamespace string
	// ManagerNamespace is the namespace of the manager's pod; empty where the manager is in none.
	ManagerNamespace string
}

// Observed is what the wanted objects depend on besides the CatalogSource and the Settings.
type Observed struct {
	// NamespaceLabels are the labels of the catalog's namespace.
	NamespaceLabels map[string]string
	// PullSecrets are those of the service account that the pod runs as.
	PullSecrets []corev1.LocalObjectReference
	// RegistryDigest is what the registry says that the image is; empty is unknown.
	RegistryDigest string
}

// restrictedLevel is the Pod Security Standard that refuses pods which claim more rights than they need.
const restrictedLevel = "restricted"

// memoryVariable tells the Go runtime of the server what to stay within.
const memoryVariable = "GOMEMLIMIT"

// goMemory writes bytes as the Go runtime reads them, in the largest unit that divides them.
func goMemory(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for i < len(units)-1 && bytes%1024 == 0 {
		bytes /= 1024
		i++
	}
	return strconv.FormatInt(bytes, 10) + units[i]
}
