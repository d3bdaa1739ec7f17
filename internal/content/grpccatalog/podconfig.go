package grpccatalog

import (
	"maps"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// configure changes a pod as spec.grpcPodConfig and the annotation for the priority class ask for.
func configure(p *corev1.Pod, source *v1alpha1.CatalogSource, settings Settings) error {
	if config := source.Spec.GrpcPodConfig; config != nil {
		schedule(&p.Spec, config)
		if err := limitMemory(&p.Spec.Containers[0], config.MemoryTarget); err != nil {
			return err
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

// schedule replaces what is given; nothing is merged. A selector or a class that is given and empty takes the default away.
func schedule(spec *corev1.PodSpec, config *v1alpha1.GrpcPodConfig) {
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
}
