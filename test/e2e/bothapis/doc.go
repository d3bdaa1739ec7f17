// Package bothapis runs one table of scenarios once for each API, v0 and v1, on a real API server: health, drift, certificates, CRDs, ownership and the
// way back. What it proves is that both are served by one engine, in the same words. What belongs to one API alone is elsewhere in test/e2e.
// Start reading at TestScenarios.
package bothapis
