// Package installed reads which operators are installed and which APIs they are known to use: from a cluster, of both APIs, or from files. It
// writes nothing and judges nothing. Start reading at Read; Decode is for files.
package installed
