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
  name: "RemoteConfigInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaRemoteConfigInterop", targets: ["VestaRemoteConfigInterop"]),
    .library(name: "VestaRemoteConfigInteropContracts", targets: ["VestaRemoteConfigInteropContracts"]),
    .library(name: "VestaRemoteConfigInteropFakes", targets: ["VestaRemoteConfigInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaRemoteConfigInterop",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaRemoteConfigInteropContracts",
      dependencies: [
        "VestaRemoteConfigInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaRemoteConfigInteropFakes",
      dependencies: [
        "VestaRemoteConfigInterop",
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaRemoteConfigInteropTests",
      dependencies: [
        "VestaRemoteConfigInterop", "VestaRemoteConfigInteropContracts", "VestaRemoteConfigInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
