package clusterobjectset

import "testing"

// TestRollout: phases one after the other, and what the objects look like.
func TestRollout(t *testing.T) {
	w := newWorld(t)
	w.apply(`
apiVersion: olm.operatorframework.io/v1
kind: ClusterObjectSet
metadata: {name: NS-1}
spec:
  lifecycleState: Active
  revision: 1
  collisionProtection: Prevent
  phases:
  - name: configuration
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: NS}, data: {key: value}}
  - name: deploy
    objects:
    - object:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: NS}
        spec:
          replicas: 1
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: web, image: example.com/web}]}
  - name: publish
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: last, namespace: NS}, data: {key: value}}
`)
	w.reports("NS-1", "Progressing=True/Succeeded", "Revision 1 has rolled out.")
	w.reports("NS-1", "Available=True/ProbesSucceeded", "")
	w.reports("NS-1", "Succeeded=True/Succeeded", "")
	w.there(true, "v1", "ConfigMap", "last")
}
