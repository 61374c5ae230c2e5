// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "InstallationsBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaInstallationsBackend", targets: ["VestaInstallationsBackend"]),
    .library(name: "VestaInstallationsBackendContracts", targets: ["VestaInstallationsBackendContracts"]),
    .library(name: "VestaInstallationsBackendFakes", targets: ["VestaInstallationsBackendFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
  ],
  targets: [
    .target(
      name: "VestaInstallationsBackend",
      dependencies: [
        .product(name: "VestaServiceInterop", package: "ServiceInterop")
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaInstallationsBackendContracts",
      dependencies: [
        "VestaInstallationsBackend",
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaInstallationsBackendFakes",
      dependencies: [
        "VestaInstallationsBackend",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaInstallationsBackendTests",
      dependencies: [
        "VestaInstallationsBackend", "VestaInstallationsBackendContracts", "VestaInstallationsBackendFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
