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
  name: "RemoteConfigBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaRemoteConfigBackend", targets: ["VestaRemoteConfigBackend"]),
    .library(name: "VestaRemoteConfigBackendContracts", targets: ["VestaRemoteConfigBackendContracts"]),
    .library(name: "VestaRemoteConfigBackendFakes", targets: ["VestaRemoteConfigBackendFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
  ],
  targets: [
    .target(
      name: "VestaRemoteConfigBackend",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaRemoteConfigBackendContracts",
      dependencies: [
        "VestaRemoteConfigBackend",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaRemoteConfigBackendFakes",
      dependencies: [
        "VestaRemoteConfigBackend",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaRemoteConfigBackendTests",
      dependencies: [
        "VestaRemoteConfigBackend", "VestaRemoteConfigBackendFakes",
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
