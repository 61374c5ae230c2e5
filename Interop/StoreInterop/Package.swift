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
  name: "StoreInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaStoreInterop", targets: ["VestaStoreInterop"]),
    .library(name: "VestaStoreInteropContracts", targets: ["VestaStoreInteropContracts"]),
    .library(name: "VestaStoreInteropFakes", targets: ["VestaStoreInteropFakes"]),
    .library(name: "VestaStoreInteropCrashTesting", targets: ["VestaStoreInteropCrashTesting"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaStoreInterop",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStoreInteropFakes",
      dependencies: [
        "VestaStoreInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStoreInteropContracts",
      dependencies: [
        "VestaStoreInterop", "VestaStoreInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStoreInteropCrashTesting",
      dependencies: [
        "VestaStoreInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaStoreInteropTests",
      dependencies: [
        "VestaStoreInterop", "VestaStoreInteropContracts", "VestaStoreInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
