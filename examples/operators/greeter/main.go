// The greeter is a sample operator: for each Greeting it keeps a ConfigMap with the text. Start reading at reconcile.go.
package main

import (
	"os"

	"fairlead.dev/fairlead/examples/operators/api"
	"fairlead.dev/fairlead/examples/operators/startup"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	os.Exit(startup.Main("greeter", func(m ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(m).
			For(&api.Greeting{}).
			Owns(&corev1.ConfigMap{}).
			Complete(&greeter{client: m.GetClient()})
	}))
}
