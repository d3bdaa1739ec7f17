package components

import (
	"fmt"

	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	lease "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/yaml"
)

// simulation is what simulated nodes and pods do, grouped by kind: nodes become and stay ready, pods run as soon as they
// are scheduled, those of Jobs complete, and deleted ones go.
func simulation() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	stages := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, source := range []string{
		fast.DefaultNodeInit,
		lease.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podfast.DefaultPodDelete,
	} {
		stage, err := decodeStage(source)
		if err != nil {
			return nil, fmt.Errorf("decode a simulation stage: %w", err)
		}
		stages[stage.Spec.ResourceRef] = append(stages[stage.Spec.ResourceRef], stage)
	}
	return stages, nil
}

func decodeStage(source string) (*internalversion.Stage, error) {
	var stage v1alpha1.Stage
	if err := yaml.UnmarshalStrict([]byte(source), &stage); err != nil {
		return nil, err
	}
	v1alpha1.SetObjectDefaults_Stage(&stage)
	return internalversion.ConvertToInternalStage(&stage)
}
