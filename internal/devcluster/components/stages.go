package components

import (
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/yaml"
)

func decodeStage(source string) (*internalversion.Stage, error) {
	var stage v1alpha1.Stage
	if err := yaml.UnmarshalStrict([]byte(source), &stage); err != nil {
		return nil, err
	}
	v1alpha1.SetObjectDefaults_Stage(&stage)
	return internalversion.ConvertToInternalStage(&stage)
}
