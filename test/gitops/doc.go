// Package gitops proves that every tool gives the right verdict on every state of every kind: kstatus by its own code, which Flux and Helm use, the
// shipped health check of Argo CD in Lua, the shipped health check expressions of Flux in CEL, and kubectl wait. The states are those that the tests of the
// controllers lead to, and testdata/verdicts.txt says what each means. It holds the examples of docs/gitops.md to what is shipped as well. It holds tests
// only, and needs no cluster. Start reading at TestVerdicts.
package gitops
