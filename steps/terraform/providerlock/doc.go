// Package providerlock reads what decides which providers an initialisation
// installs: the dependency lock file, the constraints of the configuration, the
// CLI configuration, and the packages of a filesystem mirror with their hashes.
//
// It runs nothing, downloads nothing and asks no registry. A hash is computed as
// the tools do: h1 over the files of a package, packed or not, and zh over the
// archive itself.
package providerlock
