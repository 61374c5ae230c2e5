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
  name: "AuthInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAuthInterop", targets: ["VestaAuthInterop"]),
    .library(name: "VestaAuthInteropContracts", targets: ["VestaAuthInteropContracts"]),
    .library(name: "VestaAuthInteropFakes", targets: ["VestaAuthInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaAuthInterop",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthInteropContracts",
      dependencies: [
        "VestaAuthInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthInteropFakes",
      dependencies: [
        "VestaAuthInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthInteropTests",
      dependencies: [
        "VestaAuthInterop", "VestaAuthInteropContracts", "VestaAuthInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
