package grpccatalog

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// memoryVariable tells the Go runtime of the server what to stay within.
const memoryVariable = "GOMEMLIMIT"

// limitMemory requests what the server is to stay within. There is no limit: it would kill the server when it does not.
func limitMemory(server *corev1.Container, target *resource.Quantity) error {
	if target == nil {
		return nil
	}
	if target.Sign() <= 0 {
		return fmt.Errorf("spec.grpcPodConfig.memoryTarget is %s: write a positive quantity, such as 100Mi", target)
	}
	server.Resources.Requests[corev1.ResourceMemory] = target.DeepCopy()
	server.Env = append(server.Env, corev1.EnvVar{Name: memoryVariable, Value: goMemory(target.Value())})
	return nil
}

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
